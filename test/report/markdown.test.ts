import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { readCiJobLinks } from '../../src/model/pipeline.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { FieldPath } from '../../src/model/state.ts';
import { MAX_COMMENT_LENGTH } from '../../src/report/markdown/sections.ts';
import { renderCommentMarker, renderFence, toShortProse } from '../../src/report/markdown/text.ts';
import type { FormatOptions, Report } from '../../src/report/report.ts';
import { selectFirst } from '../cases.ts';
import { FORMAT_CHECKS } from './format-checks.ts';
import { TRICKS } from './hostile-checks.ts';
import {
  expectForgeLinksOnly,
  expectOneCodeSpan,
  expectOneFence,
  expectOneMarker,
  expectProse,
  expectWholeBlocks,
  PIPELINE,
  SHA,
} from './markdown-checks.ts';
import { listCode, parseMarkdown } from './markdown-tree.ts';
import { renderMarkdownReport } from './render.ts';
import {
  createChange,
  createDifference,
  createLiveChange,
  createPlan,
  EVERYTHING,
  PLAIN,
  toNormal,
} from './sample-plans.ts';
import { DRIFT } from './sample-reports.ts';
import { MIXED } from './sample-results.ts';

function render(
  report: Report,
  more: Pick<Partial<FormatOptions>, 'applyCommand' | 'verbose' | 'pipeline' | 'excerpts'> = {},
): string {
  return renderMarkdownReport(report, { ...PLAIN, ...more });
}

function renderPlan(plan: Plan, blocking = plan.violations): string {
  return render(
    { about: 'plan', plan, blocking: blocking },
    {
      applyCommand: {
        line: 'edgewise apply manifests --approved plan.json',
        lineElsewhere: 'edgewise apply manifests --approved plan.json',
        readsInput: false,
      },
    },
  );
}

describe('a comment', () => {
  test('of a plan shows dangers and totals above the fold, and the rest below', async () => {
    await expect(renderPlan(EVERYTHING)).toMatchFileSnapshot('goldens/plan.md');
  });

  test('of a plan that may be applied ends with its command', async () => {
    await expect(renderPlan(EVERYTHING, [])).toMatchFileSnapshot('goldens/plan-allowed.md');
  });

  test('of an apply shows failures first, and what to do', async () => {
    await expect(render({ about: 'apply', plan: EVERYTHING, result: MIXED })).toMatchFileSnapshot('goldens/apply.md');
  });

  test('of a failure is complete', () => {
    const error = { message: 'No API key.', remedy: 'Set EDGEWISE_API_KEY.' };
    expect(render({ about: 'failure', failure: { command: 'plan', error } })).toMatchInlineSnapshot(`
      "<!-- edgewise:plan -->

      ## ✗ edgewise plan did not complete

      ✗ edgewise plan did not complete.

      \`\`\`text
      No API key.
      Set EDGEWISE_API_KEY.
      \`\`\`
      "
    `);
  });

  test('of manifests shows every mistake at its place', () => {
    const excerpts = { render: () => '3 |   colour: red\n  |   ^^^^^^', renderCorrected: () => '' };
    const place = { file: 'edge.yaml', line: 3, column: 3 };
    const diagnostic = { code: 'bad-field', severity: 'error', message: 'unknown field colour', place } as const;
    const validation = { files: 1, resources: 2, diagnostics: [diagnostic] };
    expect(render({ about: 'validation', command: 'validate', validation }, { excerpts })).toMatchInlineSnapshot(`
      "<!-- edgewise:validate -->

      ## ✗ The manifests are invalid: 1 error

      ✗ The manifests are invalid: 1 error.

      \`\`\`text
      error[bad-field]: unknown field colour
        --> edge.yaml:3:3
        3 |   colour: red
          |   ^^^^^^
      \`\`\`
      "
    `);
  });

  test('of an empty plan is short, without a command', () => {
    expect(renderPlan(createPlan())).toMatchInlineSnapshot(`
      "<!-- edgewise:plan stack=production -->

      ## ✓ Nothing to do: there are no resources

      Plan for stack production on \`https://api.example.com\`: ✓ Nothing to do: there are no resources.

      Reading took 8 requests.

      <sub>edgewise 1.0.0</sub>
      "
    `);
  });

  test('has one table and one fold with the diff for each part of the plan', () => {
    const text = renderPlan(EVERYTHING);
    const kinds = parseMarkdown(text).children.map(({ type }) => type);
    const headings = text.split('\n').filter((line) => line.startsWith('### '));
    expect(headings).toHaveLength(4);
    expect(kinds.filter((type) => type === 'table')).toHaveLength(headings.length);
    expect(text.match(/<summary><code>Diff<\/code>/g)).toHaveLength(headings.length);
    const shown = EVERYTHING.changes.filter(({ action }) => action !== 'no-op').map(({ address }) => address);
    const rows = text.split('\n').filter((line) => /^[|] `[^`]`&nbsp;/.test(line));
    // A resource that is changed and has drifted is in both parts.
    expect(rows.map((row) => /`([A-Z]\w+[/][^`]+)`/.exec(row)?.[1])).toEqual([...shown, 'TCPEdge/postgres']);
    expect(rows.at(-1)).toMatch(/see above<br>.*policy.inbound\[0\].*reverts/);
    expect(kinds[0]).toBe('html');
    expect(kinds[1]).toBe('heading');
  });
});

test('opens the diff of three changes, and folds that of four', () => {
  const toUpdates = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      createLiveChange(`TCPEdge/a${index}`, index % 2 === 0 ? 'update' : 'adopt', {
        id: `edgtcp_${index}`,
        differences: [createDifference('description', { from: 'a', to: 'b' })],
      }),
    );
  const [three, four] = [3, 4].map((count) => renderPlan(createPlan({ changes: toUpdates(count) })));
  expect(three).not.toContain('<details>');
  expect(three?.match(/^@@ /gm)).toHaveLength(3);
  expect(four).toContain('<summary><code>Diff</code> 12 lines on 4 resources</summary>');
});

test('links a row to the line of its field, and does not repeat a danger', () => {
  const toPlan = (path: string, parts: Partial<Change> = {}) =>
    createPlan({
      changes: [
        createLiveChange('TCPEdge/a', 'update', {
          id: 'edgtcp_1',
          place: { file: 'edge.yaml', line: 3, column: 1 },
          differences: [createDifference(path, { from: ['a.test:1'], to: ['b.test:1'] })],
          ...parts,
        }),
      ],
    });
  const locate = (address?: string, path?: FieldPath) =>
    address === 'TCPEdge/a' && path?.[1] === 'hostports' ? { file: 'edge.yaml', line: 9, column: 1 } : undefined;
  const readRow = (plan: Plan): string => {
    const text = renderMarkdownReport({ about: 'plan', plan, blocking: [] }, { ...PLAIN, locate });
    return text.split('\n').find((line) => line.startsWith('| `~`')) ?? '';
  };
  expect(readRow(toPlan('hostports'))).toBe(
    '| `~`&nbsp;update | `TCPEdge/a`<br>`edge.yaml:9` | `hostports: a.test:1 → b.test:1` |',
  );
  // A value that is not a field of the manifest has the position of the document.
  expect(readRow(toPlan('mark.stack'))).toContain('`edge.yaml:3`');
  const danger = { group: 'traffic', danger: 'address-changed', path: 'hostports' } as const;
  const both = { ...danger, from: ['a.test:1'], to: ['b.test:1'] };
  expect(readRow(toPlan('hostports', { dangers: [both] }))).toMatch(
    /\| `hostports`: \[traffic danger above\]\(#danger-[\w-]+\) \|/,
  );
  // A danger without a value does not replace the row of the field.
  expect(readRow(toPlan('hostports', { dangers: [{ ...both, to: ['c.test:1'] }] }))).toContain('a.test:1 → b.test:1');
  expect(readRow(toPlan('description', { dangers: [both] }))).toContain('description: "a.test:1" → "b.test:1"');
});

test('links each field of a row to its own line, unless that is the line of the row', () => {
  const place = { file: 'edge.yaml', line: 3, column: 1 };
  const two = createLiveChange('TCPEdge/a', 'update', {
    id: 'edgtcp_1',
    place,
    differences: [
      createDifference('description', { from: 'a', to: 'b' }),
      createDifference('pooled', { from: false, to: true }),
      createDifference('hostports', { from: ['a.test:1'], to: ['b.test:1'], origin: 'drift' }),
    ],
  });
  const drifted = createLiveChange('TCPEdge/c', 'update', {
    id: 'edgtcp_2',
    place,
    differences: [createDifference('description', { from: 'a', to: 'b', origin: 'drift' })],
  });
  const made = createChange('TCPEdge/b', 'create', { desired: toNormal('TCPEdge/b', {}) });
  const lines: Readonly<Record<string, number>> = { description: 7, pooled: 9 };
  const locate = (_?: string, path: FieldPath = []) => ({
    file: 'edge.yaml',
    line: lines[path[1] ?? ''] ?? 3,
    column: 1,
  });
  const plan = createPlan({
    changes: [drifted, made, two],
    made: { at: '2026-03-01T12:00:00.000Z', commit: SHA },
  });
  const text = renderMarkdownReport({ about: 'plan', plan, blocking: [] }, { ...PLAIN, locate, pipeline: PIPELINE });
  const rows = text.split('\n').filter((line) => /^[|] `/.test(line));
  expect(rows.map((row) => /TCPEdge.(.)/.exec(row)?.[1])).toEqual(['a', 'b', 'c', 'a']);
  const [row = ''] = rows;
  expect(row).toContain('`TCPEdge/a`<br>[`edge.yaml:7`]');
  // The line of the first field is that of the row.
  expect(row).toContain('`description: "a" → "b"`<br>');
  expect(row).toMatch(/`pooled: false → true` \[`:9`\]\(\S*edge[.]yaml#L9\)/);
});

test('ends a comment on drift as one on a plan: with commit, run, time and version', () => {
  const drift = { ...DRIFT, made: { ...DRIFT.made, commit: SHA } };
  const text = renderMarkdownReport({ about: 'drift', drift }, { ...PLAIN, pipeline: PIPELINE, version: '1.2.3' });
  FORMAT_CHECKS.markdown(text);
  const plan = createPlan({ made: drift.made, tool: { name: 'edgewise', version: '1.2.3' } });
  const ofPlan = renderMarkdownReport({ about: 'plan', plan, blocking: [] }, { ...PLAIN, pipeline: PIPELINE });
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  expect(last).toMatch(
    /^<sub>Commit \[`0123456`\]\(\S+\) · \[run 42\]\(\S+\) · 2026-03-01 12:&#8203;00 UTC · edgewise 1\.2\.3<\/sub>$/,
  );
  expect(ofPlan.split('\n')).toContain(last);
  // The commit is shown once.
  expect(text.split('0123456`')).toHaveLength(2);
  expect(text).not.toContain('Compared with');
  expect(text.lastIndexOf('\n### Changed')).toBeLessThan(text.indexOf('\n- It is unknown who made these changes'));
});

test('links a danger of drift to the line of its field', () => {
  const locate = (_?: string, path?: FieldPath) => {
    return { file: 'edge.yaml', line: path?.[1] === 'ip_restriction' ? 9 : 3, column: 1 };
  };
  const changes = DRIFT.changes.map((change) => ({ ...change, place: { file: 'edge.yaml', line: 3, column: 1 } }));
  const text = renderMarkdownReport({ about: 'drift', drift: { ...DRIFT, changes } }, { ...PLAIN, locate });
  expect(text).toMatch(/^> - [*][*]access[*][*] `TCPEdge\/a` [^\n]* `edge.yaml:9`<a /m);
});

test('uses the short name of a field that a danger shows', () => {
  const id = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
  const change = createLiveChange('WeightedBackend/a', 'update', {
    id: 'bkdwd_1',
    differences: [createDifference(`backends.${id}`, { from: 70, to: 0 })],
    dangers: [{ group: 'traffic', danger: 'no-weight', path: 'backends', from: { [id]: 70 }, to: { [id]: 0 } }],
  });
  const text = renderPlan(createPlan({ changes: [change], externals: { 'External/blue': id } }));
  expect(text).toMatch(/\| `backends.External\/blue`: \[traffic danger above\]\(#danger-[\w-]+\) \|/);
});

test('shows quotes of a danger as code', () => {
  const toRule = (name: string) => ({ name, expressions: ['true'], actions: [{ type: 'deny' }] });
  const read = (name: string): string => {
    const danger = { group: 'access', danger: 'rule-removed', path: 'policy.inbound[0]', from: toRule(name) } as const;
    return renderPlan(
      createPlan({ changes: [createLiveChange('TCPEdge/a', 'update', { id: 'edgtcp_1', dangers: [danger] })] }),
    );
  };
  expect(read('europe')).toMatch(/[*][*]access[*][*] `TCPEdge\/a` will have the deny rule `europe` removed /);
  FORMAT_CHECKS.markdown(read('a`b'));
  FORMAT_CHECKS.markdown(read('`</details> @all'));
});

describe('a comment in a pipeline', () => {
  const made = { at: '2026-03-01T12:00:00.000Z', commit: SHA };
  const place = { file: 'stacks/a b)(.yaml', line: 7, column: 1 };
  const desired = toNormal('TCPEdge/a', { hostports: ['1.tcp.example.net:20001'], description: 'x' });
  const edge = createChange('TCPEdge/a', 'create', { desired, place, team: 'data' });
  const plan = createPlan({ changes: [edge], made, teamLabel: 'team' });

  test('links to the line of each manifest, the commit and the run, and shows teams', () => {
    const text = render({ about: 'plan', plan, blocking: [] }, { pipeline: PIPELINE });
    FORMAT_CHECKS.markdown(text);
    expect(text).toContain(
      `\`TCPEdge/a\`<br>[\`stacks/a b)(.yaml:7\`](https://forge.test/blob/${SHA}/stacks/a%20b%29%28.yaml#L7) |`,
    );
    expect(text).toContain('listens on `1.tcp.example.net:20001`; has no backend; has no IP restriction');
    expect(text).toContain(
      `<sub>Commit [\`0123456\`](https://forge.test/commit/${SHA}) · [run 42](https://forge.test/runs/42) · 2026-03-01 12:&#8203;00 UTC · edgewise`,
    );
  });

  test('has no links for a plan of another commit', () => {
    const other = { ...plan, made: { ...made, commit: 'fedcba9876543210' } };
    const text = render({ about: 'plan', plan: other, blocking: [] }, { pipeline: PIPELINE });
    expect(text).not.toMatch(/blob|forge.test.commit/);
    expect(text).toContain('Commit `fedcba9`');
  });

  test.each(TRICKS)('links only to the forge if manifests and teams are called %j', (trick) => {
    expectForgeLinksOnly(trick);
  });

  test('shows 50 of 300 creates, and folds the others as one block', () => {
    const changes = Array.from({ length: 300 }, (_, index) => ({ ...edge, address: `TCPEdge/a${index}` as const }));
    const text = render({ about: 'plan', plan: { ...plan, changes }, blocking: [] }, { pipeline: PIPELINE });
    FORMAT_CHECKS.markdown(text);
    expect(text).toContain('<summary><code>250 more</code> 250 create</summary>');
    expect(text).not.toContain('Too long');
    for (const { address } of changes) expect(text).toContain(`\`${address}\``);
  });
});

test('shows whole values in the open table of ten changes whose diff is folded', () => {
  const toUpdates = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const differences = 'abcdefgh'.split('').map((name) => {
        const text = `${name.repeat(100)} ${index}`;
        return createDifference(`metadata.${name}`, { from: `${text} before`, to: `${text} after` });
      });
      return createLiveChange(`TCPEdge/a${index}`, 'update', { id: `edgtcp_${index}`, differences });
    });
  const listOpen = (count: number) => {
    const text = renderPlan(createPlan({ changes: toUpdates(count) }));
    const lines = text.replace(/<details>.*?<\/details>/gs, '').split('\n');
    return lines.filter((line) => line.includes('TCPEdge/a'));
  };
  const rows = listOpen(10);
  expect(rows).toHaveLength(10);
  for (const [index, row] of rows.entries())
    for (const name of 'abcdefgh') expect(row).toContain(`${index} before" → "${name.repeat(100)} ${index} after"`);
  expect(listOpen(11).join('')).not.toContain('after"');
  expect(listOpen(1).join('')).toContain('and 2 more fields');
});

/** Each trick, all of them in one text, and URLs at the ends of sentences. */
const TEXTS = [
  ...[
    ...TRICKS,
    TRICKS.join(' '),
    '',
    ' ',
    '`',
    '```',
    '````',
    '|',
    '- a',
    '1. a',
    '+ a',
    '=',
    '<details open',
    '> a',
    '# a',
  ],
  'See https://a.example.com/x?y=1&z=[2]#top, or (http://b.example.com/~a_b*c).',
  'https://a.example.com:8443/`b|c <https://d.example.com>',
];

describe('text of users', () => {
  test.each(TEXTS)('is prose of one paragraph with text only, and URLs as code: %j', expectProse);

  test('keeps a URL in prose unchanged for copying', () => {
    const url = 'https://api.example.com:8443/v1/~a_b*c?x=[1]&y=2#top';
    for (const text of [url, `See ${url}.`, `(${url})`, `"${url}", then`]) {
      expect(listCode(parseMarkdown(`## ${toShortProse(text)}`).children)).toEqual([url]);
    }
  });

  test.each(TEXTS)('is one piece of code in a paragraph and in a cell: %j', expectOneCodeSpan);

  test.each(TEXTS)('stays in its fence: %j', (text) => {
    expectOneFence([text, 'a', text]);
  });

  test('fills a fence up to 16,000 characters, and the other lines are counted', () => {
    const lines = renderFence('', Array(10).fill('x'.repeat(1999))).split('\n');
    expect(lines.slice(1, -1).map((line) => line.slice(0, 20).trim())).toEqual([
      ...Array(8).fill('x'.repeat(20)),
      '… 2 more lines',
    ]);
  });

  test.each(TEXTS)('does not end the marker: %j', expectOneMarker);

  test('of a pipeline does not end the marker', () => {
    const options = {
      color: false,
      width: 0,
      verbose: false,
      compact: false,
      at: new Date(0),
      pipeline: readCiJobLinks({ GITHUB_RUN_ID: '4--5-->' }),
    };
    expect(renderCommentMarker('plan', 'my-shop', options)).toBe(
      '<!-- edgewise:plan stack=my-shop -->\n<!-- edgewise:run GITHUB_RUN_ID=4%2D%2D5%2D%2D%3E 1970-01-01T00:00:00.000Z -->\n\n',
    );
  });
});

describe('a comment at its size limit', () => {
  const SIZES = [
    { creates: 30, deletes: 30, updates: 30, length: 3000 },
    { creates: 400, deletes: 0, updates: 0, length: 3000 },
    { creates: 0, deletes: 400, updates: 0, length: 3000 },
    { creates: 0, deletes: 0, updates: 400, length: 3000 },
    { creates: 400, deletes: 400, updates: 400, length: 1 },
  ];

  test.each(selectFirst(SIZES))(
    'is cut at whole blocks: $creates creates, $deletes deletes, $updates updates of $length characters',
    (sizes) => {
      for (const verbose of [false, true]) expectWholeBlocks({ ...sizes, text: TRICKS.join(' ') }, verbose);
    },
  );

  test('says what it leaves out, the least important first', () => {
    const deletes = Array.from({ length: 30 }, (_, index) =>
      createLiveChange(`TCPEdge/d${index}`, 'delete', { id: 'edgtcp_2' }),
    );
    const creates = Array.from({ length: 240 }, (_, index) =>
      createChange(`TCPEdge/c${index}`, 'create', {
        desired: toNormal('TCPEdge/c', { description: 'x'.repeat(900) }),
        notes: ['x'.repeat(150)],
      }),
    );
    const text = renderPlan(createPlan({ changes: [...deletes, ...creates] }));
    expect(text.length).toBeLessThanOrEqual(MAX_COMMENT_LENGTH);
    expect(text).toMatch(/Too long for a comment\. Left out: 1 diff\./);
    for (const { address } of [...deletes, ...creates]) expect(text).toContain(`\`${address}\``);
  });
});
