import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import type { FieldPath } from '../../src/model/state.ts';
import type { FormatOptions, Report } from '../../src/report/report.ts';
import { FORMAT_CHECKS } from './format-checks.ts';
import { type PageTree, readPage } from './html-tree.ts';
import { renderHtmlReport } from './render.ts';
import { createChange, createDifference, createLiveChange, createPlan, createWrite, PLAIN } from './sample-plans.ts';
import { createHostilePlan, createLargePlan, MISTAKE, REPORTS } from './sample-reports.ts';

function renderPage(report: Report | undefined, options: Partial<FormatOptions> = {}): PageTree {
  if (report === undefined) throw new Error('There is no such report');
  return readPage(renderHtmlReport(report, { ...PLAIN, ...options }));
}

function renderPlanPage(plan: Plan, options: Partial<FormatOptions> = {}): PageTree {
  return renderPage({ about: 'plan', plan, blocking: plan.violations }, options);
}

function listTexts({ elements }: PageTree, name: string): readonly string[] {
  return elements.filter((element) => element.name === name).map(({ text }) => text.trim());
}

describe('an HTML report', () => {
  it.each(Object.entries(REPORTS))('is valid and contains only its own elements: %s', (_, report) => {
    FORMAT_CHECKS.html(renderHtmlReport(report, PLAIN));
  });

  it('contains only its own elements if every text is hostile', () => {
    const plan = createHostilePlan();
    FORMAT_CHECKS.html(
      renderHtmlReport(
        { about: 'plan', plan, blocking: [] },
        { ...PLAIN, applyCommand: { line: 'x', lineElsewhere: '</code><b>', readsInput: false } },
      ),
    );
  });

  it('lists every danger above the changes, with a link to its change', () => {
    const changes = [
      createChange('TCPEdge/old', 'delete'),
      createChange('TCPEdge/calm', 'update'),
      createChange('TCPEdge/open', 'update', { dangers: [{ group: 'protection', danger: 'unprotected' }] }),
    ];
    const page = renderPlanPage(createPlan({ changes }));
    const { elements } = page;
    const said = elements.filter(({ name, text }) => name === 'li' && text.includes('will no longer'));
    expect(said).toHaveLength(1);
    const item = elements.find(({ attributes }) => attributes.get('data-key')?.startsWith('TCPEdge/open') === true);
    const ids = elements.map(({ attributes }) => attributes.get('id'));
    const links = elements.flatMap(({ name, attributes }) => (name === 'a' ? [attributes.get('href')] : []));
    expect(links.filter((to) => to?.startsWith('#change-'))).toEqual([`#${item?.attributes.get('id')}`]);
    expect(ids.indexOf('dangers')).toBeLessThan(ids.indexOf('entries'));
  });

  it('has no list of dangers without one', () => {
    const { elements } = renderPlanPage(createPlan({ changes: [createChange('TCPEdge/calm', 'update')] }));
    expect(elements.filter(({ attributes }) => attributes.get('id') === 'dangers')).toEqual([]);
  });

  it('lets the browser load nothing, and run only its own script', () => {
    const { elements } = renderPage(REPORTS['plan']);
    const policy = elements.find(({ attributes }) => attributes.has('http-equiv'))?.attributes.get('content') ?? '';
    const toSource = (name: string): string => {
      const text = elements.find((element) => element.name === name)?.text ?? '';
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    };
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `style-src ${toSource('style')}`,
      `script-src ${toSource('script')}`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ]);
  });

  it('is the same for the same report', () => {
    expect(renderHtmlReport(REPORTS['plan'] as Report, PLAIN)).toBe(renderHtmlReport(REPORTS['plan'] as Report, PLAIN)); // it is there
  });
});

describe('an HTML report of a plan', () => {
  it('starts with refusals and dangers', () => {
    expect(listTexts(renderPage(REPORTS['plan']), 'h2')).toEqual([
      'Refused by safety rules',
      'Deletes and replacements',
      'This change',
      'To create: new in the manifests, or deleted at the service',
      'Drift to revert',
      'Warnings',
      'Requests, each sent after those that it waits for',
    ]);
  });

  it('has no totals to approve if it has errors, which come first', () => {
    const page = renderPlanPage(createPlan({ changes: [createChange('TCPEdge/a', 'create')], diagnostics: [MISTAKE] }));
    expect(listTexts(page, 'h2')).toEqual(['What is wrong', 'Changes']);
    expect(listTexts(page, 'strong')).toEqual(['✗ This plan cannot be applied: 1 error']);
  });

  it('says last what reading took, and shows what a message has between backticks as code', () => {
    const violation = { message: 'Label it `public: "true"`.', remedy: 'Write `a`.', addresses: [] };
    const warning = {
      ...MISTAKE,
      severity: 'warning',
      address: 'TCPEdge/calm',
      message: 'Write `b`.',
      isOfChange: true,
    } as const;
    const plan = createPlan({ changes: [createChange('TCPEdge/calm', 'update')], diagnostics: [warning] });
    const page = renderPage({ about: 'plan', plan, blocking: [{ rule: 'policy', ...violation }] });
    expect(listTexts(page, 'p').at(-2)).toMatch(/^Reading took/);
    expect(listTexts(page, 'code')).toEqual(expect.arrayContaining(['public: "true"', 'a', 'b']));
    expect(listTexts(page, 'p').join()).not.toContain('`');
  });

  it('links both halves of a change that is also drift to its danger, and each field to its line', () => {
    const change = createLiveChange('TCPEdge/a', 'update', {
      id: 'edgtcp_1',
      place: { file: 'edge.yaml', line: 3, column: 1 },
      differences: [
        createDifference('hostports', { from: ['a.test:1'], to: ['b.test:1'] }),
        createDifference('pooled', { from: false, to: true }),
        createDifference('description', { from: 'a', to: 'b', origin: 'drift' }),
      ],
      dangers: [{ group: 'traffic', danger: 'address-changed', path: 'hostports' }],
    });
    const lines: Readonly<Record<string, number>> = { hostports: 7, pooled: 9 };
    const locate = (_?: string, path: FieldPath = []) => ({
      file: 'edge.yaml',
      line: lines[path[1] ?? ''] ?? 3,
      column: 1,
    });
    const { elements } = renderPlanPage(createPlan({ changes: [change] }), { locate });
    const items = elements.filter(({ attributes }) => attributes.has('data-key'));
    expect(items.map(({ attributes }) => attributes.get('data-danger'))).toEqual(['traffic', 'traffic']);
    const remarks = elements.flatMap(({ name, text }) => (name === 'code' && text.includes('edge.yaml') ? [text] : []));
    expect(remarks).toContain('edge.yaml:9');
  });

  it('shows the place of a field once in its change, and quotes of a danger as code', () => {
    const rule = { name: 'europe', expressions: ['true'], actions: [{ type: 'deny' }] };
    const change = createLiveChange('TCPEdge/a', 'update', {
      id: 'edgtcp_1',
      place: { file: 'edge.yaml', line: 3, column: 1 },
      differences: [
        createDifference('hostports', { from: ['a.test:1'], to: ['b.test:1'] }),
        createDifference('pooled', { from: false, to: true }),
      ],
      dangers: [
        { group: 'access', danger: 'rule-removed', path: 'policy.inbound[0]', from: rule },
        { group: 'traffic', danger: 'address-changed', path: 'hostports', from: ['a.test:1'], to: ['b.test:1'] },
      ],
    });
    const locate = () => ({ file: 'edge.yaml', line: 3, column: 1 });
    const plan = createPlan({ changes: [change] });
    const page = renderHtmlReport({ about: 'plan', plan, blocking: [] }, { ...PLAIN, locate });
    FORMAT_CHECKS.html(page);
    expect(page).toContain(
      '<strong>access:</strong> will have the deny rule <code>europe</code> removed (policy.inbound[0]): <code>expressions',
    );
    // The list of dangers contains them.
    expect(page).toMatch(/<li>[^\n]* will be reached elsewhere: <code>hostports a.test:1 → b.test:1<\/code>/);
    const code = listTexts(readPage(page), 'code');
    expect(code.filter((text) => text === 'edge.yaml:3')).toHaveLength(3);
  });

  it('says that there is nothing to do', () => {
    expect(listTexts(renderPlanPage(createPlan()), 'strong')).toContain('✓ Nothing to do: there are no resources');
  });

  it('contains the command that applies it, unless that would be refused', () => {
    const plan = createPlan({
      changes: [createChange('TCPEdge/a', 'create')],
      writes: [createWrite('create', 'TCPEdge/a')],
    });
    const options = {
      applyCommand: {
        line: 'edgewise apply manifests --approved plan.json',
        lineElsewhere: 'edgewise apply manifests --approved plan.json',
        readsInput: false,
      },
    };
    expect(listTexts(renderPlanPage(plan, options), 'code')).toContain('edgewise apply manifests --approved plan.json');
    const violations = [{ rule: 'protect', message: 'No.', remedy: 'Allow it.', addresses: [] }] as const;
    expect(listTexts(renderPlanPage({ ...plan, violations }, options), 'code')).not.toContain(
      'edgewise apply manifests --approved plan.json',
    );
    expect(listTexts(renderPlanPage(createPlan(), options), 'code')).not.toContain(
      'edgewise apply manifests --approved plan.json',
    );
  });

  it('starts with unfolded dangers, up to hundreds of fields, and with up to three changes', () => {
    const listOpen = ({ elements }: PageTree): readonly string[] =>
      elements.flatMap(({ name, attributes }) =>
        name === 'details' && attributes.has('open') ? [attributes.get('data-key')?.split(' ')[0] ?? ''] : [],
      );
    const differences = [createDifference('description', { from: 'a', to: 'b' })];
    const toPlan = (count: number) =>
      createPlan({
        changes: [
          createLiveChange('TCPEdge/gone', 'delete', { id: 'edgtcp_1', spec: { description: 'x' } }),
          createLiveChange('TCPEdge/open', 'update', {
            id: 'edgtcp_2',
            differences,
            dangers: [{ group: 'protection', danger: 'unprotected' }],
          }),
          ...Array.from({ length: count }, (_, index) =>
            createLiveChange(`TCPEdge/safe${index}`, 'update', { id: `edgtcp_s${index}`, differences }),
          ),
        ],
      });
    expect(listOpen(renderPlanPage(toPlan(2)))).toEqual(['TCPEdge/gone', 'TCPEdge/open']);
    expect(listOpen(renderPlanPage(toPlan(1)))).toEqual(['TCPEdge/gone', 'TCPEdge/open', 'TCPEdge/safe0']);
    const replaced = createLargePlan(200).changes.map((change) => ({
      ...change,
      action: 'replace' as const,
      differences: [...differences, ...differences, ...differences],
    }));
    expect(listOpen(renderPlanPage(createPlan({ changes: replaced.slice(0, 100) })))).toHaveLength(100);
    expect(listOpen(renderPlanPage(createPlan({ changes: replaced })))).toHaveLength(133);
  });

  it('shows the team and place of each danger, and the command below, before the changes', () => {
    const SHA = '0123456789abcdef0123456789abcdef01234567';
    const place = { file: 'edge.yaml', line: 3, column: 1 };
    const change = createLiveChange('TCPEdge/open', 'update', {
      id: 'edgtcp_2',
      place,
      team: 'data',
      differences: [createDifference('hostports', { from: ['a.test:1'], to: ['b.test:1'] })],
      dangers: [
        { group: 'traffic', danger: 'address-changed', path: 'hostports', from: ['a.test:1'], to: ['b.test:1'] },
      ],
    });
    const plan = createPlan({
      changes: [change],
      writes: [createWrite('update', 'TCPEdge/open')],
      teamLabel: 'team',
      made: { at: '2026-03-01T12:00:00.000Z', commit: SHA },
    });
    const options = {
      applyCommand: {
        line: 'edgewise apply manifests --approved plan.json',
        lineElsewhere: 'edgewise apply manifests --approved plan.json',
        readsInput: false,
      },
      pipeline: { commit: SHA, filesUrl: `https://forge.test/blob/${SHA}/` },
      locate: (_?: string, path?: FieldPath) =>
        path?.[1] === 'hostports' ? { ...place, line: 9, column: 1 } : undefined,
    };
    FORMAT_CHECKS.html(renderHtmlReport({ about: 'plan', plan, blocking: [] }, { ...PLAIN, ...options }));
    const { elements } = renderPlanPage(plan, options);
    const start = elements.findIndex(({ name, text }) => name === 'li' && text.includes('will be reached elsewhere'));
    const inside = elements.slice(start, start + 9).map(({ name, text }) => `${name} ${text.trim()}`);
    expect(inside).toContain('code TCPEdge/open');
    expect(inside).toContain('span team: data');
    expect(inside).toContain('code edge.yaml:9');
    const links = elements.flatMap(({ name, attributes }) => (name === 'a' ? [attributes.get('href')] : []));
    expect(links.filter((to) => to === `https://forge.test/blob/${SHA}/edge.yaml#L9`)).toHaveLength(2);
    const order = elements.findIndex(
      ({ name, text }) => name === 'code' && text === 'edgewise apply manifests --approved plan.json',
    );
    const at = (id: string): number => elements.findIndex(({ attributes }) => attributes.get('id') === id);
    expect(at('dangers')).toBeLessThan(order);
    expect(order).toBeLessThan(at('entries'));
  });
});

describe('an HTML report of an apply', () => {
  it('starts with what to do, folds what was applied, and shows failures above the plan', () => {
    const { elements } = renderPage(REPORTS['apply']);
    const next = elements.findIndex(({ text }) => text.startsWith('Fix what failed.'));
    const applied = elements.findIndex(({ attributes }) => attributes.get('id') === 'table');
    expect(next).toBeLessThan(applied);
    expect(elements[applied]?.attributes.has('open')).toBe(false);
    expect(listTexts(renderPage(REPORTS['apply']), 'h2')).toEqual([
      'Applied',
      'Failed',
      'Skipped',
      'Tokens',
      'The plan',
      'Deletes and replacements',
      'This change',
      'To create: new in the manifests, or deleted at the service',
      'Drift to revert',
      'Warnings',
      'Requests, each sent after those that it waits for',
    ]);
  });
});
