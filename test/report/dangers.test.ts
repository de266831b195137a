import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Change, DifferenceCause } from '../../src/model/change.ts';
import { DANGER_NAMES, DANGERS, type Danger } from '../../src/model/danger.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Document } from '../../src/report/document.ts';
import { createStacksDocument } from '../../src/report/documents/create-document.ts';
import { loadStacksReportRenderer } from '../../src/report/formats.ts';
import type { Report, StackReportPart, StacksRunReport } from '../../src/report/report.ts';
import { listStackRows } from '../../src/report/view/run-wording.ts';
import { expectEverywhere, listDangers, listRows, toPlan, toUnescaped, WIDE, withoutCode } from './danger-checks.ts';
import { FORMAT_CHECKS } from './format-checks.ts';
import { readPage } from './html-tree.ts';
import { renderPlanText } from './render.ts';
import { createChange, createDifference, createLiveChange, createPlan, PLAIN, toNormal } from './sample-plans.ts';
import { createHostilePlan } from './sample-reports.ts';

const MARK = { stack: 'production', name: 'a', protect: false, delivered: true, fields: {} };
const DENY = { name: 'europe', expressions: ["conn.geo.country_code in ['DE']"], actions: [{ type: 'deny' }] };
const WIDER = { ...DENY, expressions: ["conn.geo.country_code in ['DE', 'FR']"] };

const LOG = { name: 'log', expressions: [], actions: [{ type: 'log' }] };
const ROUTE = { id: 'edghtsrt_1', edge_id: 'edghts_1' };
const ENFORCED = { type: 'endpoints', enforced: true, ip_policy_ids: ['ipp_1'] };

/** The danger of a change from one spec to another, as a sentence. */
const SENTENCES: readonly (readonly [said: string, change: Change])[] = [
  [
    'will no longer be restricted: ip_restriction External/office → (none)',
    update('TCPEdge/a', { ip_restriction: { ip_policy_ids: ['ipp_1'] } }, {}),
  ],
  [
    'will have this disabled: ip_restriction (External/office)',
    update(
      'TCPEdge/a',
      { ip_restriction: { ip_policy_ids: ['ipp_1'] } },
      { ip_restriction: { enabled: false, ip_policy_ids: ['ipp_1'] } },
    ),
  ],
  [
    'will have another restriction: ip_restriction.ip_policy_ids External/office → ipp_2',
    update(
      'TCPEdge/a',
      { ip_restriction: { ip_policy_ids: ['ipp_1'] } },
      { ip_restriction: { ip_policy_ids: ['ipp_2'] } },
    ),
  ],
  [
    `will have the deny rule \`europe\` changed (policy.inbound[0]): expressions "conn.geo.country_code in ['DE']" → "conn.geo.country_code in ['DE', 'FR']"`,
    update('TCPEdge/a', { policy: { inbound: [DENY] } }, { policy: { inbound: [WIDER] } }),
  ],
  [
    `will have the deny rule \`europe\` added (policy.inbound[0]): expressions (none) → "conn.geo.country_code in ['DE']"; actions (none) → "deny"`,
    update('TCPEdge/a', {}, { policy: { inbound: [DENY] } }),
  ],
  [
    'will have this disabled: policy (deny rule `europe`)',
    update('TCPEdge/a', { policy: { inbound: [DENY] } }, { policy: { enabled: false, inbound: [DENY] } }),
  ],
  [
    'will no longer restrict: type dashboard → endpoints',
    update('IPRestriction/a', { ...ENFORCED, type: 'dashboard' }, ENFORCED),
  ],
  [
    `will have the deny rule \`europe\` removed (policy.inbound[0]): expressions "conn.geo.country_code in ['DE']" → (none); actions "deny" → (none)`,
    update('TCPEdge/a', { policy: { inbound: [DENY, LOG] } }, { policy: { inbound: [LOG] } }),
  ],
  [
    'will have its rules in another order: policy.inbound',
    update('TCPEdge/a', { policy: { inbound: [DENY, LOG] } }, { policy: { inbound: [LOG, DENY] } }),
  ],
  [
    'may lock out the user who applies it',
    update('IPRestriction/a', { ...ENFORCED, type: 'api', enforced: false }, { ...ENFORCED, type: 'api' }),
  ],
  [
    'will have its backend disabled: backend (External/blue)',
    update(
      'TCPEdge/a',
      { backend: { backend_id: 'bkdhr_2aaa' } },
      { backend: { enabled: false, backend_id: 'bkdhr_2aaa' } },
    ),
  ],
  [
    'will be valid for longer: valid_until 2030-01-01T00:00:00Z → 2031-01-01T00:00:00Z',
    update('SSHUserCertificate/a', { valid_until: '2030-01-01T00:00:00Z' }, { valid_until: '2031-01-01T00:00:00Z' }),
  ],
  [
    'will leave the SSH user certificate valid until 2031-01-01T00:00:00Z: the API cannot revoke it',
    update('SSHUserCertificate/a', { valid_until: '2031-01-01T00:00:00Z' }, { valid_until: '2030-01-01T00:00:00Z' }),
  ],
  [
    'will send traffic elsewhere: backend.backend_id External/blue → bkdhr_2zzz',
    update('TCPEdge/a', { backend: { backend_id: 'bkdhr_2aaa' } }, { backend: { backend_id: 'bkdhr_2zzz' } }),
  ],
  [
    'will widen access: acl + bind:b.test',
    update('Credential/a', { acl: ['bind:a.test'] }, { acl: ['bind:a.test', 'bind:b.test'] }),
  ],
  ['may bind anything: acl bind:a.test → (none)', update('Credential/a', { acl: ['bind:a.test'] }, {})],
  [
    'may bind anything: acl bind:a.test → bind:*: `bind:*` permits every binding',
    update('Credential/a', { acl: ['bind:a.test'] }, { acl: ['bind:*'] }),
  ],
  [
    'will admit everyone: mutual_tls.certificate_authority_ids ca_1 → (none)',
    update(
      'HTTPSEdge/a',
      { id: 'edghts_1', mutual_tls: { certificate_authority_ids: ['ca_1'] } },
      { id: 'edghts_1', mutual_tls: { certificate_authority_ids: [] } },
    ),
  ],
  [
    'will no longer be restricted: user_agent_filter: it restricted nothing before: it denies no user agent',
    update('HTTPSEdgeRoute/a', { ...ROUTE, user_agent_filter: { deny: [] } }, ROUTE),
  ],
  [
    'may admit everyone: policy.inbound[0].actions[0].type: the action "ban" is not known here',
    createChange('TCPEdge/a', 'create', {
      desired: toNormal('TCPEdge/a', { policy: { inbound: [{ actions: [{ type: 'ban' }] }] } }),
    }),
  ],
  [
    'will no longer be reached at hostports b.test:1',
    update('TCPEdge/a', { hostports: ['a.test:1', 'b.test:1'] }, { hostports: ['a.test:1'] }),
  ],
  [
    'will be reached elsewhere: hostports a.test:1 → b.test:1',
    update('TCPEdge/a', { hostports: ['a.test:1'] }, { hostports: ['b.test:1'] }),
  ],
  [
    'will no longer have a backend: backend External/blue → (none)',
    update('TCPEdge/a', { backend: { backend_id: 'bkdhr_2aaa' } }, {}),
  ],
  [
    'will send traffic to no member: backends External/blue (70) → External/blue (0)',
    update('WeightedBackend/a', { backends: { bkdhr_2aaa: 70 } }, { backends: { bkdhr_2aaa: 0 } }),
  ],
  [
    'will get a new `ns_targets` from the service: set the NS records of the domain to them',
    { ...update('AgentIngress/a', { domain: 'a.test' }, { domain: 'a.test' }), action: 'replace' },
  ],
  [
    'will get a new token, which goes to the folder tokens: agents with the old token are disconnected',
    {
      ...update('Credential/a', { acl: ['bind:a.test'] }, { acl: ['bind:a.test'] }),
      action: 'replace',
      token: { directory: 'tokens' },
    },
  ],
  [
    'will get its first token, which goes to the folder tokens',
    createChange('Credential/a', 'create', {
      desired: toNormal('Credential/a', { acl: ['bind:a.test'] }),
      token: { directory: 'tokens' },
    }),
  ],
  [
    'will lose its token: agents with the old token are disconnected',
    createLiveChange('Credential/a', 'delete', { id: 'cr_1', spec: { acl: ['bind:a.test'] } }),
  ],
  [
    'will widen access: mutual_tls.certificate_authority_ids + ca_2',
    update(
      'HTTPSEdge/a',
      { id: 'edghts_1', mutual_tls: { certificate_authority_ids: ['ca_1'] } },
      { id: 'edghts_1', mutual_tls: { certificate_authority_ids: ['ca_1', 'ca_2'] } },
    ),
  ],
  ['will no longer be protected', withMark(update('TCPEdge/a', {}, {}), { ...MARK, protect: true })],
  [
    'will be taken over from the stack other',
    { ...withMark(update('TCPEdge/a', {}, {}), { ...MARK, stack: 'other' }), action: 'take-over' },
  ],
  ['will be released: it belongs to production', { ...withMark(update('TCPEdge/a', {}, {}), MARK), action: 'release' }],
];

/** The stack and the team of each danger of a run. */
function listDangersOfStacks({ blocks }: Document): readonly (readonly [string | undefined, string | undefined])[] {
  const dangers = blocks.flatMap((block) => (block.block === 'dangers' ? block.dangers : []));
  return dangers.map(({ part, team }) => [part?.title, team]);
}

describe('a danger', () => {
  it.each(SENTENCES)('%s', async (said, change) => {
    const plan = toPlan([change]);
    expect(listDangers(plan).map((danger) => danger.said)).toEqual([said]);
    await expectEverywhere(plan);
  });

  it('of a gap shows what is missing, for how many writes and how long', async () => {
    const gap = { group: 'traffic', danger: 'gap', writes: 1, limitMs: 15_000 } as const;
    const dangers = [
      { ...gap, path: 'hostports', from: ['a.test:1', 'a.test:2'] },
      { ...gap, path: 'policy', from: ['a.test:1'] },
      { ...gap, path: 'backend', writes: 2 },
    ];
    const plan = createPlan({ changes: [{ ...update('TCPEdge/a', {}, { description: 'a' }), dangers }] });
    expect(listDangers(plan).map(({ said }) => said)).toEqual([
      'will leave without a resource during 1 write, which takes 15 s once the rate limit is reached: hostports a.test:1, a.test:2',
      'will leave without its policy during 1 write, which takes 15 s once the rate limit is reached: a.test:1',
      'will be without its backend during 2 writes, which take 15 s once the rate limit is reached',
    ]);
    await expectEverywhere(plan);
  });

  it('of a hostport shows who serves it next, if the plan knows', () => {
    const plan = toPlan([
      update('TCPEdge/a', { hostports: ['a.test:1'] }, {}),
      update('TCPEdge/b', {}, { hostports: ['a.test:1'] }),
    ]);
    expect(listDangers(plan).map(({ said }) => said)).toEqual([
      'will no longer be reached at hostports a.test:1: then served by TCPEdge/b',
    ]);
  });

  it('is shown in every format with the same counts, also beside all others', async () => {
    await expectEverywhere(
      toPlan(SENTENCES.map(([, change], index) => ({ ...change, address: `${change.kind}/r${index}` }))),
    );
  });

  it('is bold and red in a terminal, as is its count', () => {
    const plan = toPlan([withMark(update('TCPEdge/a', {}, {}), { ...MARK, protect: true })]);
    const text = renderPlanText(plan, { ...WIDE, color: true });
    for (const line of ['    ! protection: will no longer be protected', '! 1 danger (1 protection).'])
      expect(text).toContain(`\u001b[1m\u001b[31m${line}\u001b[39m\u001b[22m\n`);
  });

  it('is marked if it only reverts drift', async () => {
    const change = update('TCPEdge/a', { hostports: ['a.test:1'] }, { hostports: ['b.test:1'] });
    const differ = (...origins: readonly DifferenceCause[]) =>
      toPlan([{ ...change, differences: origins.map((origin) => createDifference('hostports', { origin })) }]);
    const list = (plan: Plan) => listDangers(plan).map(({ said }) => said);
    const said = 'will be reached elsewhere: hostports a.test:1 → b.test:1';
    expect(list(differ('drift'))).toEqual([`${said}: reverts drift`]);
    expect(list(differ('drift', 'manifest'))).toEqual([said]);
    expect(list(differ('both'))).toEqual([said]);
    await expectEverywhere(differ('drift'));
  });

  it('has a sentence in this file, whatever its name', () => {
    const said = new Set(toPlan(SENTENCES.map(([, change]) => change)).changes.flatMap(listNames));
    // A gap needs the writes of a plan, an equal and a way back what is live, and the others a comparison with the clock.
    const elsewhere = ['gap', 'ended', 'not-valid-yet', 'created-beside', 'secret-kept'];
    expect(DANGER_NAMES.filter((name) => !said.has(name) && !elsewhere.includes(name))).toEqual([]);
  });

  it('is in the group of the table, or in secrets if it is about access to a credential or a certificate', () => {
    const found = toPlan(SENTENCES.map(([, change]) => change)).changes.flatMap(({ dangers = [] }) => dangers);
    expect(found.length).toBeGreaterThan(20);
    const isAsInTable = ({ group, danger }: Danger) =>
      group === DANGERS[danger].group || (group === 'secrets' && DANGERS[danger].group === 'access');
    expect(found.filter((one) => !isAsInTable(one))).toEqual([]);
  });
});

describe('a run over many stacks', () => {
  const open = update('TCPEdge/a', { ip_restriction: { ip_policy_ids: ['ipp_1'] } }, {});
  const moved = update('TCPEdge/a', { hostports: ['a.test:1'] }, { hostports: ['b.test:1'] });
  const toPlanOfTeam = (team: string, ...changes: readonly Change[]): Plan =>
    toPlan(
      changes.map((change) => ({ ...change, team })),
      { teamLabel: 'team' },
    );
  const toPart = (name: string, report: Report): StackReportPart => {
    return { name, folder: `live/${name}`, exitCode: report.about === 'failure' ? 3 : 2, report, options: {} };
  };
  const toPlanPart = (name: string, plan: Plan) => toPart(name, { about: 'plan', plan, blocking: [] });
  const failed = toPart('broken', { about: 'failure', failure: { error: { message: 'No key.' } } });
  const calm = createLiveChange('TCPEdge/a', 'update', {
    id: 'edgtcp_1',
    spec: {},
    desired: toNormal('TCPEdge/a', { description: 'b' }),
    differences: [createDifference('description', { to: 'b' })],
  });
  const toRun = (...parts: readonly StackReportPart[]): StacksRunReport => ({
    command: 'plan',
    root: 'live',
    selection: '',
    parts,
  });
  const run = toRun(
    toPlanPart('calm', toPlanOfTeam('data', calm)),
    toPlanPart('empty', toPlan([])),
    toPlanPart('moved', toPlanOfTeam('data', moved)),
    toPlanPart('open', toPlanOfTeam('shop', { ...calm, address: 'TCPEdge/b' }, open)),
    failed,
  );
  const COUNT = '2 dangers (1 access, 1 traffic)';

  it('starts with the dangers of all stacks, by stack and team, the worst first', async () => {
    const document = createStacksDocument(run, WIDE);
    const { headline } = document;
    const dangers = listDangersOfStacks(document);
    expect(headline).toBe(`⚠ ${COUNT} · 4 updates · ✗ 1 of 5 stacks failed or refused`);
    expect(dangers).toEqual([
      ['open', 'shop'],
      ['moved', 'data'],
    ]);
    const markdown = withoutCode(toUnescaped((await loadStacksReportRenderer('markdown'))(run, WIDE)));
    const lines = [
      `## ${headline}`,
      `> **${COUNT}**`,
      '> - **open** (shop): **access** TCPEdge/a will no longer be restricted: ip_restriction External/office → (none)',
      '> - **moved** (data): **traffic** TCPEdge/a will be reached elsewhere: hostports a.test:1 → b.test:1',
      '### broken: ✗ No key',
      '<summary><code>open</code>',
      '<summary><code>moved</code>',
      '<summary><code>calm</code>',
      '<summary><code>1 stack without changes</code> 1 row',
    ];
    const places = lines.map((line) => markdown.indexOf(`\n${line}`));
    expect(places).toEqual(places.toSorted((left, right) => left - right));
    expect(places[0]).toBeGreaterThan(0);
    const { elements } = readPage((await loadStacksReportRenderer('html'))(run, WIDE));
    const teams = elements.filter(({ attributes }) => attributes.get('class') === 'detail').map(({ text }) => text);
    expect(teams.filter((text) => text.startsWith('team'))).toEqual(['team: shop', 'team: data']);
    const links = elements.flatMap(({ name, attributes }) => (name === 'a' ? [attributes.get('href') ?? ''] : []));
    expect(links.filter((link) => /^#s\d/.test(link)).slice(0, 4)).toEqual([
      ...['#s4-stack', '#s4-change-2'],
      ...['#s3-stack', '#s3-change-1'],
    ]);
    // Each danger and each headline is shown once.
    expect(markdown.split('will no longer be restricted')).toHaveLength(2);
    expect(markdown.split('1 danger (1 access) · 2 updates')).toHaveLength(2);
  });

  it('begins in a terminal with its result and the dangers of all stacks', async () => {
    const text = (await loadStacksReportRenderer('text'))(run, { ...WIDE, color: true });
    const lines = text.split('\n');
    expect(lines.slice(0, 5).map((line) => stripVTControlCharacters(line))).toEqual([
      expect.stringContaining('1 failed or refused'),
      '',
      `${COUNT}:`,
      '  ! open (team: shop): access: TCPEdge/a will no longer be restricted: ip_restriction External/office → (none)',
      '  ! moved (team: data): traffic: TCPEdge/a will be reached elsewhere: hostports a.test:1 → b.test:1',
    ]);
    for (const line of lines.slice(2, 5)) expect(line).toContain('\u001b[31m');
    expect(
      (await loadStacksReportRenderer('text'))(toRun(toPlanPart('calm', toPlanOfTeam('data', calm))), PLAIN),
    ).not.toContain('!');
  });

  it.each([
    ['calm', 40, 'live/calm'],
    ['calm', 30, 'live/calm'],
    ['a-stack-with-a-long-name', 60, 'live/a-stack-with-a-long-name'],
  ])('fits its table with the stack %s into %i columns, and breaks no word', async (name, width, folder) => {
    const changes = [open, moved, calm].map((change, index) => ({ ...change, address: `TCPEdge/${index}` as const }));
    const parts = toRun(toPlanPart(name, toPlanOfTeam('data', ...changes)));
    const renderText = await loadStacksReportRenderer('text');
    const [wide = '', narrow = ''] = [0, width].map((columns) => {
      const text = renderText(parts, { ...PLAIN, width: columns });
      return text.slice(text.lastIndexOf('STACK'));
    });
    const rows = narrow.split('\n');
    expect(wide.split('\n').some((line) => line.length > width)).toBe(true);
    expect(rows.filter((line) => line.length > width)).toEqual([]);
    expect(rows.some((line) => line.includes(folder))).toBe(true);
    expect(narrow.match(/\S+/g)).toEqual(wide.match(/\S+/g));
  });

  it('counts lint warnings, and groups stacks that have only those with the unchanged ones', async () => {
    const lint = { code: 'no-backend', severity: 'warning', message: 'It leads nowhere.' } as const;
    const health = { ...lint, code: 'resource-unhealthy' } as const;
    const parts = toRun(
      toPlanPart('calm', toPlanOfTeam('data', calm)),
      toPlanPart('linted', toPlan([], { diagnostics: [lint, lint] })),
      toPlanPart('unhealthy', toPlan([], { diagnostics: [health] })),
    );
    const document = createStacksDocument(parts, WIDE);
    expect(listRows(document).map(({ isQuiet }) => isQuiet)).toEqual([false, true, false]);
    // A warning about something else is shown, and changes nothing.
    expect(document.conclusion[0]?.text).toContain('1 with changes.');
    for (const form of ['markdown', 'html'] as const)
      expect((await loadStacksReportRenderer(form))(parts, WIDE)).toMatch(
        /1 stack without changes<.*linted.*2 warnings/s,
      );
  });

  it('tells stacks of one name apart by their folders', () => {
    const twins = [toPlanPart('open', toPlanOfTeam('shop', open)), toPlanPart('open', toPlanOfTeam('shop', open))];
    const run = toRun(...twins.map((part, index) => ({ ...part, folder: `live/${index}` })));
    const dangers = listDangersOfStacks(createStacksDocument(run, WIDE));
    expect(dangers.map(([title]) => title)).toEqual(['open (live/0)', 'open (live/1)']);
    const rows = (...folders: readonly string[]): readonly string[] =>
      listStackRows(folders.map((folder) => ({ ...toPlanPart('open', toPlan([])), folder }))).map(({ title }) => title);
    expect(rows('live/open', 'test/open')).toEqual(['open (live/open)', 'open (test/open)']);
    expect(rows('live/open')).toEqual(['open']);
    expect(rows('live/reopen')).toEqual(['open (live/reopen)']);
  });

  it('names both teams of one stack', () => {
    const [mine] = toPlanOfTeam('shop', open).changes;
    const [theirs] = toPlanOfTeam('data', { ...open, address: 'TCPEdge/b' }).changes;
    if (mine === undefined || theirs === undefined) throw new Error('There are no changes');
    const plan = toPlan([mine, theirs], { teamLabel: 'team' });
    const dangers = listDangersOfStacks(createStacksDocument(toRun(toPlanPart('both', plan)), WIDE));
    expect(dangers.map(([, team]) => team)).toEqual(['shop', 'data']);
  });

  it.each(['markdown', 'html'] as const)('is not broken in %s if every text in it is hostile', async (form) => {
    const plan = createHostilePlan();
    const label = '</iframe></details><script>alert(1)</script>\n| @all #1 [x](http://x.test) `';
    const changes = plan.changes.map((change): Change => {
      const dangers = [{ group: 'access', danger: 'restriction-removed', path: label, from: label }] as const;
      return { ...change, team: label, dangers };
    });
    const part = toPlanPart(label, { ...plan, changes, teamLabel: 'team' });
    const broken = { ...failed, name: label, folder: label };
    const hostile = { ...toRun(part, part, broken, part, part, part), root: label, selection: label };
    FORMAT_CHECKS[form]((await loadStacksReportRenderer(form))(hostile, PLAIN));
  });
});

function listNames({ dangers = [] }: Change): readonly Danger['danger'][] {
  return dangers.map(({ danger }) => danger);
}

function update(address: Change['address'], from: object, to: object): Change {
  return createLiveChange(address, 'update', {
    id: `${getKind(address.split('/')[0] ?? '').idPrefix}_1`,
    spec: { ...from },
    desired: toNormal(address, { ...to }),
  });
}

function withMark(change: Change, mark: typeof MARK): Change {
  return { ...change, ...(change.live !== undefined && { live: { ...change.live, mark } }) };
}
