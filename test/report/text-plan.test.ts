import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import { type Document, listEntries } from '../../src/report/document.ts';
import { createDocument } from '../../src/report/documents/create-document.ts';
import type { TextStyleOptions } from '../../src/report/report.ts';
import { createPainter } from '../../src/report/text/layout.ts';
import { countColumns } from '../../src/report/view/escape.ts';
import { renderPlanText } from './render.ts';
import {
  createChange,
  createDifference,
  createLiveChange,
  createPlan,
  createWrite,
  EVERYTHING,
  PLAIN,
  toNormal,
} from './sample-plans.ts';

function render(plan: Plan, options: Partial<TextStyleOptions> = {}): string {
  return renderPlanText(plan, { ...PLAIN, ...options });
}

function describe(plan: Plan): Document {
  return createDocument({ about: 'plan', plan, blocking: [] }, PLAIN);
}

test('shows broken safety rules, deletes, creates and totals in this order', async () => {
  await expect(render(EVERYTHING)).toMatchFileSnapshot('goldens/plan.txt');
});

test('shows what a delete loses and every request with its dependencies with --verbose', async () => {
  await expect(render(EVERYTHING, { verbose: true })).toMatchFileSnapshot('goldens/plan-verbose.txt');
});

test('wraps prose in a narrow terminal, and breaks values that do not fit', async () => {
  await expect(render(EVERYTHING, { width: 48 })).toMatchFileSnapshot('goldens/plan-narrow.txt');
});

test.each([60, 120])('fits a terminal of %i columns', async (width) => {
  const text = render(EVERYTHING, { width, verbose: true });
  for (const line of text.split('\n')) expect(countColumns(line), line).toBeLessThanOrEqual(width);
  await expect(text).toMatchFileSnapshot(`goldens/plan-${width}.txt`);
});

test('changes only colour with colour', () => {
  const colored = render(EVERYTHING, { color: true, verbose: true });
  expect(colored).not.toBe(stripVTControlCharacters(colored));
  expect(stripVTControlCharacters(colored)).toBe(render(EVERYTHING, { verbose: true }));
});

test('colours the parts of a plan by their meaning', () => {
  const plan = createPlan({
    changes: [
      createLiveChange('TCPEdge/a', 'delete', { id: 'edgtcp_2a' }),
      createLiveChange('TCPEdge/b', 'update', {
        id: 'edgtcp_2b',
        differences: [createDifference('description', { from: 'x', to: 'y', origin: 'drift' })],
      }),
    ],
  });
  const lines = render(plan, { color: true }).replaceAll('\u001b[', '<').split('\n');
  expect(lines).toContain('<31m- TCPEdge/a  (edgtcp_2a)<39m   delete');
  expect(lines).toContain('<1mDrift to revert:<22m');
  expect(lines).toContain('    description: <31m"x"<39m → <32m"y"<39m  <2m(reverts: changed at the service)<22m');
});

test('colours a whole warning beside a change', () => {
  const change = createLiveChange('TCPEdge/b', 'update', { id: 'edgtcp_2b', notes: ['calm'] });
  const warning = { code: 'no-backend', severity: 'warning', message: 'its traffic goes nowhere at all' } as const;
  const plan = createPlan({
    changes: [change],
    diagnostics: [{ ...warning, address: 'TCPEdge/b', field: 'backend', isOfChange: true }],
  });
  const lines = render(plan, { color: true, width: 40 }).split('\n');
  const toWarning = createPainter(true);
  expect(lines).toContain('    calm');
  expect(lines).toContain(toWarning('warning', '    warning[no-backend]: its traffic'));
  expect(lines).toContain(toWarning('warning', '      goes nowhere at all'));
});

test('counts the unchanged resources of an empty plan', () => {
  const unchanged = ['a', 'b'].map((name) => createLiveChange(`TCPEdge/${name}`, 'no-op', { id: `edgtcp_${name}` }));
  expect(render(createPlan({ changes: unchanged }))).toMatchInlineSnapshot(`
    "Plan for stack production on https://api.example.com
    Nothing to do: 2 resources match the manifests.

    Reading took 8 requests.
    "
  `);
  expect(render(createPlan({ changes: unchanged.slice(1) }))).toContain('1 resource matches the manifests.');
});

test('says that there are no resources in a plan of nothing', () => {
  expect(render(createPlan({ requests: { read: 1, apply: 0, leastMs: 0 } }))).toMatchInlineSnapshot(`
    "Plan for stack production on https://api.example.com
    Nothing to do: there are no resources.

    Reading took 1 request.
    "
  `);
});

test('is not empty if the plan only writes files', () => {
  const plan = createPlan({
    changes: [createLiveChange('TCPEdge/a', 'no-op', { id: 'edgtcp_2a' })],
    writes: [createWrite('update', 'TCPEdge/a', { resourceId: 'edgtcp_2a' })],
  });
  expect(render(plan)).toContain('applying takes 1 write.');
});

test('counts errors below its title, also of an empty plan', () => {
  const plan = createPlan({
    diagnostics: [
      { code: 'lockout', severity: 'warning', message: 'a' },
      { code: 'predecessor-unclear', severity: 'error', message: 'b' },
      { code: 'lockout', severity: 'warning', message: 'c' },
    ],
  });
  expect(render(plan).split('\n\n')[0]).toMatch(/^Plan .*\n.*\n1 error, 2 warnings: see below\.$/);
});

test('names destroy, targets and the embedded server at the top', () => {
  const plan = createPlan({ mode: 'destroy', baseUrl: 'embedded:', targets: ['TCPEdge/a', 'TCPEdge/b'] });
  expect(render(plan).split('\n\n')[0]).toMatchInlineSnapshot(`
    "Plan to destroy stack production on the embedded server
    Limited to TCPEdge/a, TCPEdge/b and their dependencies.
    Nothing to do: there are no resources."
  `);
  expect(render(createPlan({ baseUrl: 'embedded:data.json' }))).toContain(
    'on the embedded server, kept in data.json\n',
  );
});

test('groups changes without fields, and separates one with fields', () => {
  const spec = { backends: { bkdhr_2a: 1 } };
  const plan = createPlan({
    changes: [
      ...['a', 'b'].map((name) => createLiveChange(`WeightedBackend/${name}`, 'delete', { id: `bkdwd_${name}`, spec })),
      createChange('WeightedBackend/c', 'create', { desired: toNormal('WeightedBackend/c', spec) }),
      createChange('WeightedBackend/d', 'create', { desired: toNormal('WeightedBackend/d', {}) }),
    ],
  });
  expect(render(plan).split('\n').slice(2, 9).join('\n')).toMatchInlineSnapshot(`
    "
    - WeightedBackend/a  (bkdwd_a)   delete
    - WeightedBackend/b  (bkdwd_b)   delete

    + WeightedBackend/c              create
        backends.bkdhr_2a: 1
    "
  `);
});

test('lets a title that is too wide exceed its column', () => {
  const plan = createPlan({
    changes: ['a', 'b'.repeat(63)].map((name) =>
      createLiveChange(`WeightedBackend/${name}`, 'delete', { id: 'bkdwd_2' }),
    ),
  });
  const [short, long] = render(plan).split('\n').slice(3);
  expect(short).toBe('- WeightedBackend/a  (bkdwd_2)   delete');
  expect(long).toBe(`- WeightedBackend/${'b'.repeat(63)}  (bkdwd_2)  delete`);
});

test('does not repeat the resource of a safety rule', () => {
  const text = render(EVERYTHING);
  const protect = text.slice(text.indexOf('refused[protect]'), text.indexOf('Deletes and'));
  expect(protect.match(/TCPEdge\/legacy/g)).toHaveLength(2);
});

test('sorts changes for reading, whatever the order of the plan', () => {
  const actions = ['create', 'no-op', 'adopt', 'update', 'replace', 'delete'] as const;
  const document = describe(
    createPlan({ changes: actions.map((action) => createChange(`TCPEdge/${action}`, action)) }),
  );
  expect(listEntries(document).map(({ group }) => group)).toEqual(['delete', 'replace', 'update', 'adopt', 'create']);
  const counts = document.blocks.flatMap((block) => (block.block === 'counts' ? block.counts : []));
  expect(counts.map(({ group, number }) => [group, number])).toEqual([
    ['delete', 1],
    ['replace', 1],
    ['update', 1],
    ['adopt', 1],
    ['create', 1],
    ['no-op', 1],
  ]);
});

test('shows a change that also reverts drift in both parts, each with its own fields', () => {
  const differences = [
    createDifference('description', { from: 'x', to: 'y' }),
    createDifference('metadata.team', { from: 'a', to: 'b', origin: 'drift' }),
  ];
  const desired = toNormal('TCPEdge/b', { description: 'y', metadata: { team: 'b', tier: '1' } });
  const change = createLiveChange('TCPEdge/b', 'update', { id: 'edgtcp_2b', notes: ['a note'], differences, desired });
  expect(
    render(createPlan({ changes: [change] }))
      .split('\n')
      .slice(2, 12)
      .join('\n'),
  ).toMatchInlineSnapshot(`
    "
    This change:

    ~ TCPEdge/b  (edgtcp_2b)   update
        a note
        description: "x" → "y"
        (1 field unchanged)

    Drift to revert:
    "
  `);
});

test('shows a replace with the losses, and what drifted beside it', () => {
  const differences = [createDifference('description', { from: 'x', to: 'y', origin: 'drift' })];
  const change = createLiveChange('TCPEdge/b', 'replace', { id: 'edgtcp_2b', reason: 'it ends soon', differences });
  const entries = listEntries(describe(createPlan({ changes: [change] })));
  expect(entries.map((entry) => entry.describe().fields.map(({ notes }) => notes))).toEqual([
    [['reverts: changed at the service']],
  ]);
});

test.each([60, 78, 80])('breaks no word and no id in a terminal of %i columns', (width) => {
  const [edge, backend] = ['edgtcp_3MqQvqhbDZzZqoHG7gEWquSLivE', 'bkdwd_3MqQvqhbDZzZqoHG7gEWquSLivF'];
  const other = createChange('WeightedBackend/payments-production-eu-west', 'create', {
    desired: toNormal('WeightedBackend/payments-production-eu-west', { backends: { [backend]: 100 } }),
  });
  const moved = createLiveChange('TCPEdge/payments-production-eu-west-1', 'update', {
    id: edge,
    differences: [createDifference('backend.backend_id', { from: backend, to: edge })],
  });
  const plan = { ...EVERYTHING, changes: [...EVERYTHING.changes, other, moved] };
  const words = (text: string) => new Set(text.split(/\s+/).filter((word) => countColumns(word) <= width - 12));
  const narrow = words(render(plan, { width }));
  expect(narrow).toContain(edge);
  expect([...words(render(plan, { width: 0 }))].filter((word) => !narrow.has(word))).toEqual([]);
});
