import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { BASE_URL, type CommandResult } from './fake-context.ts';
import { createDriftedWorkspace, createWorkspace, toManifest } from './workspace.ts';

const STACK = toManifest('Stack', 'shop', { team_label: 'team', tokens: { default: { directory: 'tokens' } } });
const POLICIES = { ip_policy_ids: ['ipp_2aaaaaaaaaaaaaaaaaaaaaaaaaa'] };

function toEdge(name: string, port: number, more: object = {}): string {
  const text = toManifest('TCPEdge', name, { hostports: [`1.tcp.example.net:${port}`], ...more });
  return text.replace(`{"name":"${name}"}`, `{"name":"${name}","labels":{"team":"${name}-team"}}`);
}

const STAYS = toEdge('stays', 20050);
const BEFORE = [
  ...[STACK, STAYS, toEdge('gone', 20001), toEdge('open', 20002, { ip_restriction: POLICIES }), toEdge('moved', 20003)],
  ...[toEdge('drifted', 20004, { description: 'ours' }), toEdge('told', 20005, { description: 'old' })],
  ...[toManifest('AgentIngress', 'agents', { domain: 'a.example.com' }), toEdge('shut', 20006)],
].join('');
const AFTER = [
  ...[STACK, STAYS, toEdge('open', 20002), toEdge('moved', 20013), toEdge('drifted', 20004, { description: 'ours' })],
  ...[toEdge('told', 20005, { description: 'new' }), toManifest('AgentIngress', 'agents', { domain: 'b.example.com' })],
  ...[
    toEdge('shut', 20006, { ip_restriction: POLICIES }),
    toEdge('first', 20007),
    toEdge('second', 20008, { ip_restriction: POLICIES }),
  ],
  toManifest('Credential', 'agent', { acl: ['bind:*.example.net'] }),
].join('');

const SHA = '0123456789abcdef0123456789abcdef01234567';
const PIPELINE = {
  GITHUB_SERVER_URL: 'https://github.test',
  GITHUB_REPOSITORY: 'acme/ingress',
  GITHUB_SHA: SHA,
  GITHUB_RUN_ID: '42',
};

/** Returns the part of a comment on ten changes that is visible when everything is folded. */
async function readOpenView(): Promise<string> {
  const { stdout } = await planTenChanges('markdown');
  return stdout.replace(/<details>.*?<\/details>/gs, '');
}

/** The plan of ten changes, in a pipeline. */
async function planTenChanges(form: string): Promise<CommandResult> {
  const changes = { 'TCPEdge/drifted': { description: 'by hand' } };
  const { edgewise, write, folder } = await createDriftedWorkspace({ 'edgewise.yaml': BEFORE }, changes);
  await write({ 'edgewise.yaml': AFTER });
  const env = { ...PIPELINE, GITHUB_WORKSPACE: folder, EDGEWISE_BASE_URL: BASE_URL };
  const planned = await edgewise(`plan edgewise.yaml -o plan.json --format ${form}`, { env });
  expect(planned.exitCode).toBe(0);
  return planned;
}

describe('the open part of a comment on ten changes', () => {
  it('answers every question that an approval needs', async () => {
    const view = await readOpenView();
    const row = (name: string): string =>
      view.split('\n').find((line) => line.startsWith('|') && line.includes(`/${name}\``)) ?? '';
    // Counts of everything, and dangers first.
    expect(view.split('\n')[3]).toBe(
      '## ⚠ 6 dangers (1 access, 4 traffic, 1 secret) · 1 delete, 1 replace · 5 updates · 3 creates · 1 unchanged',
    );
    // Widened access, and hostports that are no longer served, with both values and the line.
    const [, caution = ''] = /> \[!CAUTION\]\n(.*?)\n\n/s.exec(view) ?? [];
    const dangers = caution
      .replaceAll(/ \[`edgewise[.]yaml:\d+`\]\([^)]*#L\d+\)/g, ' @')
      .replaceAll(/<a name=[^>]*><.a>/g, '')
      .split('\n');
    expect(dangers).toEqual([
      '> **6 dangers (1 access, 4 traffic, 1 secret)**',
      '>',
      '> - **access** `TCPEdge/open` (open-team) will no longer be restricted: `ip_restriction ipp_2aaaaaaaaaaaaaaaaaaaaaaaaaa → (none)` @',
      '> - **traffic** `TCPEdge/gone` (gone-team, as its metadata says) will be deleted, and no longer be reached at `hostports 1.tcp.example.net:20001`',
      '> - **traffic** `AgentIngress/agents` will be reached elsewhere: `domain a.example.com → b.example.com` @',
      '> - **traffic** `AgentIngress/agents` will get a new `ns_targets` from the service: set the NS records of the domain to them @',
      '> - **traffic** `TCPEdge/moved` (moved-team) will be reached elsewhere: `hostports 1.tcp.example.net:20003 → 1.tcp.example.net:20013` @',
      '> - **secrets** `Credential/agent` will get its first token, which goes to `the folder tokens` @',
    ]);
    expect(row('gone')).toContain('listens on `1.tcp.example.net:20001`; has no backend; has no IP restriction');
    // Each value before and after, once.
    expect(row('moved')).toMatch(/`hostports`: \[traffic danger above\]\(#danger-[\w-]+\)/);
    expect(row('told')).toContain('`description: "old" → "new"`');
    expect(row('agents')).toMatch(/`domain`: \[traffic danger above\]\(#danger-[\w-]+\) \(forces replacement\)/);
    expect(row('open')).toMatch(/`ip_restriction`: \[access danger above\]\(#danger-[\w-]+\)/);
    for (const once of ['1.tcp.example.net:20013', 'b.example.com']) expect(view.split(once)).toHaveLength(2);
    expect(row('shut')).toContain('`ip_restriction: + ip_policy_ids: ipp_2aaaaaaaaaaaaaaaaaaaaaaaaaa`');
    // The drifted values.
    expect(view.indexOf('### Drift to revert')).toBeLessThan(view.indexOf(row('drifted')));
    expect(view.indexOf('### To create')).toBeLessThan(view.indexOf('### Drift to revert'));
    expect(row('drifted')).toContain('`description: "by hand" → "ours"` (reverts: changed at the service)');
    // The created resource, and its users.
    expect(row('first')).toContain('listens on `1.tcp.example.net:20007`; has no backend; has no IP restriction');
    expect(row('second')).toContain('admits `ipp_2aaaaaaaaaaaaaaaaaaaaaaaaaa`');
    expect(row('agent')).toContain('may bind `bind:*.example.net` |');
    // The line and the team of each resource.
    const lines = AFTER.split('\n');
    const line = lines.findIndex((text) => text.includes('"name":"moved"')) + 1;
    expect(row('moved')).toContain(
      `[\`edgewise.yaml:${line}\`](https://github.test/acme/ingress/blob/${SHA}/edgewise.yaml#L${line})`,
    );
    expect(row('moved')).toContain('| moved-team |');
    // A deleted resource has no manifest: its team is in its mark.
    expect(row('gone')).toContain('| gone-team, as its metadata says |');
    // The result of the rehearsal, and the command.
    expect(view).toContain(
      [
        'Reading took 6 requests; applying takes 13 writes and at least 4 look-ups (10 changes: a replace, a removed module and a new tunnel credential take more than one write), and up to 3 reads right before writes.',
        'Rehearsed on a copy in memory of what was read: all writes succeeded there, and a plan made afterwards would be empty.',
      ].join(' '),
    );
    expect(view).toMatch(/To apply:\n\n```sh\nedgewise apply edgewise[.]yaml --approved plan[.]json /);
    // The commit and the run.
    expect(view).toContain(
      `<sub>Commit [\`0123456\`](https://github.test/acme/ingress/commit/${SHA}) · [run 42](https://github.test/acme/ingress/actions/runs/42) · `,
    );
    // The command is at the end.
    expect(view.trimEnd().split('\n').at(-2)).toMatch(/^edgewise apply /);
    // The order of the writes is the usual one.
    expect(view).not.toContain('mermaid');
  });

  it('links to the line of a lifecycle setting', async () => {
    const toManifestText = (protect: boolean) =>
      `${STACK}\n---\napiVersion: edgewise/v1\nkind: TCPEdge\nmetadata:\n  name: kept\nspec:\n  hostports: ["1.tcp.example.net:20001"]\nlifecycle:\n  protect: ${protect}\n`;
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': toManifestText(true) });
    await edgewise('apply edgewise.yaml --yes');
    await write({ 'edgewise.yaml': toManifestText(false) });
    const { stdout } = await edgewise('plan edgewise.yaml --format markdown');
    const line = toManifestText(false).split('\n').indexOf('  protect: false') + 1;
    expect(stdout).toContain(`will no longer be protected \`edgewise.yaml:${line}\``);
    expect(stdout).toContain(`\`TCPEdge/kept\`<br>\`edgewise.yaml:${line}\``);
  });

  it('links to one line for one field, wherever it is named', async () => {
    const toManifestText = (country: string) =>
      `${STACK}\n---\napiVersion: edgewise/v1\nkind: TCPEdge\nmetadata:\n  name: policed\nspec:\n  hostports: ["1.tcp.example.net:20001"]\n  policy:\n    inbound:\n      - name: europe\n        expressions: ["conn.geo.country_code == '${country}'"]\n        actions: [{ type: deny }]\n---\napiVersion: edgewise/v1\nkind: AgentIngress\nmetadata:\n  name: agents\nspec:\n  domain: ${country.toLowerCase()}.example.com\n`;
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': toManifestText('DE') });
    await edgewise('apply edgewise.yaml --yes');
    await write({ 'edgewise.yaml': toManifestText('FR') });
    const lines = toManifestText('FR').split('\n');
    const find = (start: string) => lines.findIndex((line) => line.trim().startsWith(start)) + 1;
    for (const form of ['markdown', 'html']) {
      const { stdout } = await edgewise(`plan edgewise.yaml --format ${form}`);
      const places = Array.from(stdout.matchAll(/edgewise[.]yaml:(\d+)(?=[`<])/g), ([, line]) => Number(line));
      // Its danger, and its row. The service computes new values from the domain.
      expect([...new Set(places)].sort(), form).toEqual([find('expressions'), find('domain')]);
    }
  });

  it.each(['text', 'html'])('shows the team of a resource, as does %s', async (form) => {
    const { stdout } = await planTenChanges(form);
    expect(stdout).toContain('team: moved-team');
    expect(stdout).toContain('team: gone-team, as its metadata says');
  });

  it('shows the team of each resource in JSON', async () => {
    const { changes } = readOnlyStack((await planTenChanges('json')).stdout);
    const teams = changes.map(({ address, team }: Readonly<Record<string, string>>) => [address, team]);
    expect(teams).toEqual(
      expect.arrayContaining([
        ['TCPEdge/gone', 'gone-team'],
        ['TCPEdge/moved', 'moved-team'],
      ]),
    );
  });
});

describe('the team of a deleted resource', () => {
  const toEdges = (text: string) => `${STACK}${STAYS}${text}`;
  const readGone = async (before: string): Promise<string> => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': toEdges(before) });
    await edgewise('apply edgewise.yaml --yes');
    await write({ 'edgewise.yaml': toEdges('') });
    const { changes } = readOnlyStack((await edgewise('plan edgewise.yaml --format json')).stdout);
    return changes.find(({ action }: Readonly<Record<string, string>>) => action === 'delete').team;
  };
  const toGone = (team: string, metadata?: object) => toEdge('gone', 20001, { metadata }).replace('gone-team', team);

  it('is read from its mark, or from its metadata if it is long', async () => {
    const metadata = { team: 'from-metadata' };
    expect(await readGone(toGone('short', metadata))).toBe('short');
    expect(await readGone(toGone('é'.repeat(32), metadata))).toBe('é'.repeat(32));
    expect(await readGone(toGone('é'.repeat(33), metadata))).toBe('from-metadata');
    expect(await readGone(toGone('x'.repeat(65)))).toBeUndefined();
  });

  it('never takes the space of the metadata of the user', async () => {
    const filled = (size: number) => readGone(toGone('short', { team: 'from-metadata', note: 'x'.repeat(size) }));
    // The mark without a team still fits, and the manifest is valid.
    expect(await filled(3625)).toBe('short');
    expect(await filled(3745)).toBe('from-metadata');
  });
});

describe('a comment on drift', () => {
  it('shows teams, links to the line of each field, and ends with commit, run and time', async () => {
    const manifest = toYamlEdge(
      '  description: ours\n  ip_restriction: { ip_policy_ids: [ipp_2aaaaaaaaaaaaaaaaaaaaaaaaaa] }\n',
    );
    const changes = { 'TCPEdge/a': { description: 'by hand', hostports: ['1.tcp.example.net:20009'] } };
    const { edgewise, server, folder } = await createDriftedWorkspace({ 'edgewise.yaml': manifest }, changes);
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${String(id)}/ip_restriction`);
    const env = { ...PIPELINE, GITHUB_WORKSPACE: folder, EDGEWISE_BASE_URL: BASE_URL };
    const forms = ['markdown', 'html', 'text', 'json'].map((form) => `--report ${form}=drift.${form}`).join(' ');
    await edgewise(`drift edgewise.yaml ${forms}`, { env });
    const read = (form: string) => readFile(join(folder, `drift.${form}`), 'utf8');
    const [markdown, html] = [await read('markdown'), await read('html')];
    const lineOf = (field: string) => manifest.split('\n').findIndex((line) => line.includes(`${field}:`)) + 1;
    const linkTo = (field: string) => `https://github.test/acme/ingress/blob/${SHA}/edgewise.yaml#L${lineOf(field)}`;
    for (const field of ['description', 'hostports', 'ip_restriction']) {
      expect(markdown, field).toContain(`](${linkTo(field)})`);
      expect(html, field).toContain(`href="${linkTo(field)}"`);
    }
    expect(markdown).toContain('**access** `TCPEdge/a` (web-team) is no longer restricted');
    expect(markdown).toMatch(/^\| Resource \| What happened \| Next apply \| Team \|$/m);
    expect(markdown).toMatch(/^\| `TCPEdge\/a`.*\| reverts this<br>\*\*traffic\*\* will be .* \| web-team \|$/m);
    expect(markdown.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(
        `^<sub>Commit .*/commit/${SHA}\\) · \\[run 42\\]\\(.*/runs/42\\) · \\d{4}-\\d\\d-\\d\\d \\d\\d:&#8203;\\d\\d UTC · edgewise \\d`,
      ),
    );
    expect(html.split('team: web-team').length).toBeGreaterThan(2);
    expect(await read('text')).toContain('team: web-team');
    expect(readOnlyStack(await read('json')).changes[0]).toMatchObject({ team: 'web-team' });
  });

  it('shows the team beside each danger for many stacks', async () => {
    const restricted = toYamlEdge('  ip_restriction: { ip_policy_ids: [ipp_2aaaaaaaaaaaaaaaaaaaaaaaaaa] }\n');
    const { edgewise, server } = await createWorkspace({ 'live/shop/edgewise.yaml': restricted });
    await edgewise('apply -R live --yes');
    const [{ id = '' } = {}] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${String(id)}/ip_restriction`);
    const { stdout } = await edgewise('drift -R live --format markdown');
    expect(stdout).toContain('> - **shop** (web-team): **access** `TCPEdge/a` is no longer restricted');
  });
});

function toYamlEdge(fields: string): string {
  return `${STACK}
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: a
  labels: { team: web-team }
spec:
  hostports: ["1.tcp.example.net:20001"]
${fields}`;
}
