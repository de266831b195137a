import { mkdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { changeByHand, createWorkspace, STACK, type Workspace } from './workspace.ts';

const POOL = `---
apiVersion: edgewise/v1
kind: WeightedBackend
metadata: { name: pool }
spec:
  backends: { bkdhr_blue: 100 } # green is off since March
`;

/** An edge whose spec has these lines. */
function toEdgeText(...lines: readonly string[]): string {
  const all = ['hostports: ["1.tcp.example.net:20001"] # the port of the runbook', ...lines];
  return `---
# Owned by the data team.
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: pg }
spec:
${all.map((line) => `  ${line}\n`).join('')}`;
}

const EDGE = toEdgeText('description: Postgres', 'ip_restriction: { ip_policy_ids: [ipp_office] }');
const FILE = 'm/all.yaml';

/** A workspace with one file, applied, whose edge another user then changes. */
async function createDrifted(
  text: string,
  body: object,
  { line = 'apply m --yes', ...more }: { readonly line?: string; readonly env?: Record<string, string> } = {},
): Promise<Workspace & { readonly read: () => Promise<string> }> {
  const workspace = await createWorkspace({ [FILE]: text });
  expect(await workspace.edgewise(line, more)).toMatchObject({ exitCode: 0 });
  const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
  await sendByHand(workspace, 'PATCH', `/edges/tcp/${edge?.['id']}`, body);
  return { ...workspace, read: () => readFile(join(workspace.folder, FILE), 'utf8') };
}

describe('accept', () => {
  it('writes a field that has only drifted, after which the plan is empty', async () => {
    const text = `${STACK}${POOL}${EDGE}`;
    const { edgewise, read, recorder } = await createDrifted(text, { description: 'by hand' });
    recorder.take();
    expect(await edgewise('accept TCPEdge/pg m --yes')).toMatchObject({ exitCode: 0 });
    expect(await read()).toBe(text.replace('description: Postgres', 'description: by hand'));
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('accept --all m --yes')).toMatchObject({ exitCode: 0, stdout: 'Nothing to write.\n' });
  });

  it.each(['--dry-run', '--dry-run --yes', ''])(
    'writes nothing without a terminal or with --dry-run: %s',
    async (flags) => {
      const { edgewise, read } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
      const result = await edgewise(`accept --all m ${flags}`.trim());
      expect(result).toMatchObject({ exitCode: 2 });
      expect(result.stdout).toContain('-  description: Postgres\n+  description: by hand\n');
      expect(await read()).toBe(`${STACK}${EDGE}`);
    },
  );

  it('breaks no id of a file in a terminal of 60 columns, and is named by drift in one line that can be copied', async () => {
    const ids = ['ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk', 'ipp_2k9XLR3nGNPfyoIk0A3yD8vPq7M'];
    const text = `${STACK}${toEdgeText(`ip_restriction: { ip_policy_ids: [${ids.join(', ')}] }`)}`;
    const { edgewise, server } = await createDrifted(text, { description: 'by hand' });
    const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${edge?.['id']}/ip_restriction`);
    const { stdout } = await edgewise('accept TCPEdge/pg:ip_restriction m --dry-run --no-color', { terminal: 60 });
    expect(stdout).toContain(`-  ip_restriction: { ip_policy_ids: \n   ↪ [${ids[0]}, \n   ↪ ${ids[1]}] }\n`);
    expect((await edgewise('drift m --no-color', { terminal: 60 })).stdout).toContain(
      '\nTo keep a change, write it into the manifests:\n  edgewise accept TCPEdge/pg:description TCPEdge/pg:ip_restriction m\n',
    );
  });

  it('writes after yes, and nothing after no', async () => {
    const { edgewise, read } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    expect(await edgewise('accept --all m', { answers: ['no'] })).toMatchObject({ exitCode: 130 });
    expect(await read()).toBe(`${STACK}${EDGE}`);
    expect(await edgewise('accept --all m', { answers: ['yes'] })).toMatchObject({ exitCode: 0 });
    expect(await read()).toContain('description: by hand');
  });

  it('leaves out a field with a danger until it is named, and shows the danger', async () => {
    const { edgewise, read, server } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${edge?.['id']}/ip_restriction`);
    const danger = '! access: is no longer restricted: ip_restriction ipp_office → (none)';
    for (const line of ['accept --all m --yes', 'accept TCPEdge/pg m --yes']) {
      const { exitCode, stdout } = await edgewise(line);
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`  TCPEdge/pg:ip_restriction has a danger.\n    ${danger}\n`);
      expect(await read()).toContain('ip_restriction: { ip_policy_ids: [ipp_office] }');
    }
    const named = await edgewise('accept TCPEdge/pg:ip_restriction m --yes');
    expect(named).toMatchObject({ exitCode: 0 });
    expect(named.stdout).toContain(`  TCPEdge/pg:ip_restriction\n    ${danger}\n`);
    expect(await read()).not.toContain('ip_restriction');
  });

  it('leaves out a field that its manifest changed too, until it is named', async () => {
    const { edgewise, read, write } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    await write({ [FILE]: `${STACK}${EDGE.replace('Postgres', 'merged')}` });
    const left = await edgewise('accept --all m --yes');
    expect(left.stdout).toContain('TCPEdge/pg:description was changed in its manifest too.');
    expect(await read()).toContain('description: merged');
    expect(await edgewise('accept TCPEdge/pg:description m --yes')).toMatchObject({ exitCode: 0 });
    expect(await read()).toContain('description: by hand');
  });

  it('keeps the line ends, the byte order mark and the permissions of a file', async () => {
    const text = `\uFEFF${STACK}${EDGE}`.replaceAll('\n', '\r\n').trimEnd();
    const { edgewise, read } = await createDrifted(text, { description: 'by hand' });
    expect(await edgewise('accept --all m --yes')).toMatchObject({ exitCode: 0 });
    expect(await read()).toBe(text.replace('description: Postgres', 'description: by hand'));
  });

  it('writes live text so that no reader fills it in', async () => {
    const live = '$'.concat('{env:HOME} # no: comment');
    const { edgewise, read } = await createDrifted(`${STACK}${EDGE}`, { description: live });
    expect(await edgewise('accept --all m --yes')).toMatchObject({ exitCode: 0 });
    expect(await read()).toContain(live.replace('$', () => '$$'));
    expect(await edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it.each(['\n', '\r\n'])(
    'adds a member before the first of a list in brackets, below the comment of the list: %j',
    async (eol) => {
      const toRule = (address: string) => ({
        actions: [{ type: 'restrict-ips', config: { enforce: true, allow: [`${address}/32`] } }],
      });
      const [first, second] = ['198.51.100.1', '203.0.113.9'].map(toRule);
      const lines = [
        'policy:',
        '  inbound:',
        '    [',
        '      # the office',
        `      ${JSON.stringify(first)} # since March`,
        '    ]',
      ];
      const text = `${STACK}${toEdgeText(...lines)}`.replaceAll('\n', eol);
      const { edgewise, read } = await createDrifted(text, { policy: { inbound: [second, first] } });
      expect(await edgewise('accept TCPEdge/pg:policy m --yes')).toMatchObject({ exitCode: 0 });
      const [before = '', behind = ''] = text.split(JSON.stringify(first));
      const after = await read();
      expect(after.startsWith(before)).toBe(true);
      expect(after.endsWith(`${JSON.stringify(first)}${behind}`)).toBe(true);
      expect(await edgewise('plan m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    },
  );

  it('keeps a list of one member without brackets', async () => {
    const text = `${STACK}${toEdgeText('policy: { inbound: { actions: { type: log, config: { metadata: { a: b } } } } }')}`;
    const action = { type: 'log', config: { metadata: { a: 'c' } } };
    const { edgewise, read } = await createDrifted(text, { policy: { inbound: [{ actions: [action] }] } });
    expect(await edgewise('accept TCPEdge/pg:policy m --yes')).toMatchObject({ exitCode: 0 });
    expect(await read()).toBe(text.replace('a: b', 'a: c'));
  });

  it('writes a reference by its name, and by its id where the stack has none', async () => {
    const other = POOL.replace('pool', 'spare').replace('bkdhr_blue', 'bkdhr_green');
    const text = `${STACK}${POOL}${other}${toEdgeText('backend: { backend_id: WeightedBackend/pool }')}`;
    const { edgewise, read, server, ...workspace } = await createDrifted(text, { description: '' });
    const spare = server
      .snapshot()
      .resources['WeightedBackend']?.find(({ backends }) => JSON.stringify(backends).includes('bkdhr_green'));
    const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
    const change = (id: unknown) =>
      sendByHand({ server, ...workspace }, 'PATCH', `/edges/tcp/${edge?.['id']}`, { backend: { backend_id: id } });
    await change(spare?.['id']);
    expect(await edgewise('accept TCPEdge/pg:backend m --yes')).toMatchObject({ exitCode: 0 });
    expect(await read()).toBe(text.replace('WeightedBackend/pool', 'WeightedBackend/spare'));
    await change('bkdhr_green');
    expect(await edgewise('accept TCPEdge/pg:backend m --yes')).toMatchObject({ exitCode: 0 });
    expect(await read()).toBe(text.replace('WeightedBackend/pool', 'bkdhr_green'));
  });

  it('writes the files of two stacks of a folder, each with what is live of its own resources', async () => {
    const text = (name: string, port: number): string =>
      `${STACK.replace('name: test', `name: ${name}`)}${EDGE.replace('20001', String(port)).replace('name: pg', `name: ${name}`)}`;
    const [one, other] = [text('one', 20_001), text('other', 20_002)];
    const { edgewise, folder, ...workspace } = await createWorkspace({
      'm/one/all.yaml': one,
      'm/other/all.yaml': other,
    });
    expect(await edgewise('apply -R m --yes')).toMatchObject({ exitCode: 0 });
    for (const name of ['one', 'other'])
      await changeByHand(workspace, `TCPEdge/${name}`, { description: `${name} by hand` });
    const shown = await edgewise('accept --all -R m');
    expect(shown).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining('Nothing was written: 2 files would change.'),
    });
    // A report has both.
    expect(await edgewise('accept --all -R m --yes --report markdown=drift.md')).toMatchObject({ exitCode: 0 });
    for (const [name, before] of [
      ['one', one],
      ['other', other],
    ] as const)
      expect(await readFile(join(folder, 'm', name, 'all.yaml'), 'utf8')).toBe(
        before.replace('description: Postgres', `description: ${name} by hand`),
      );
    const report = await readFile(join(folder, 'drift.md'), 'utf8');
    expect(report).toMatch(
      /^<!-- edgewise:accept-stacks stack=m -->\n\n## 2 drifted\n\nDrift of the stacks below m: 2 drifted\.\n/,
    );
    expect(report).toMatch(/TCPEdge\/one[\s\S]*TCPEdge\/other/);
    expect(await edgewise('plan -R m --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  it('writes neither of two stacks if the file of one cannot be written', async () => {
    const files = { 'm/one/all.yaml': `${STACK}${EDGE}`, 'm/other/all.yaml': `${STACK.replace('test', 'two')}${POOL}` };
    const { edgewise, folder, ...workspace } = await createWorkspace(files);
    expect(await edgewise('apply -R m --yes')).toMatchObject({ exitCode: 0 });
    await changeByHand(workspace, 'TCPEdge/pg', { description: 'by hand' });
    await changeByHand(workspace, 'WeightedBackend/pool', { description: 'by hand' });
    await mkdir(join(folder, 'elsewhere'));
    await rename(join(folder, 'm/other/all.yaml'), join(folder, 'elsewhere/all.yaml'));
    await symlink('../../elsewhere/all.yaml', join(folder, 'm/other/all.yaml'));
    expect(await edgewise('accept --all -R m --yes')).toMatchObject({ exitCode: 5 });
    expect(await readFile(join(folder, 'm/one/all.yaml'), 'utf8')).toBe(files['m/one/all.yaml']);
  });

  it('writes the drift report with its dangers as the text of a pull request', async () => {
    const { edgewise, folder, server } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    const [edge] = server.snapshot().resources['TCPEdge'] ?? [];
    await sendByHand({ server }, 'DELETE', `/edges/tcp/${edge?.['id']}/ip_restriction`);
    expect(await edgewise('accept --all m --yes --report markdown=drift.md')).toMatchObject({ exitCode: 0 });
    const report = await readFile(join(folder, 'drift.md'), 'utf8');
    expect(report).toMatch(/^<!-- edgewise:drift stack=test -->\n\n## ⚠ 1 danger \(1 access\) · 1 drifted/);
    expect(report).toContain(
      '> - **access** `TCPEdge/pg` is no longer restricted: `ip_restriction ipp_office → (none)`',
    );
    expect(report).toMatch(/^- description: "Postgres"\n\+ description: "by hand"/m);
  });

  it('writes nothing if a file was changed after it was read', async () => {
    const { edgewise, read, write, recorder } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    const changed = `${STACK}${EDGE}# a line of an editor\n`;
    const result = await edgewise('accept --all m --yes', {
      transport: async (request) => {
        await write({ [FILE]: changed });
        return recorder.transport(request);
      },
    });
    expect(result).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('Nothing was written, because m/all.yaml was changed since it was read.'),
    });
    expect(await read()).toBe(changed);
  });

  it.each(['backends.External/blue', 'backends["External/blue"]', 'backends.bkdhr_blue'])(
    'finds a part of a field by the name of a resource and by its id: %s',
    async (field) => {
      const external =
        '---\napiVersion: edgewise/v1\nkind: External\nmetadata: { name: blue }\nspec: { id: bkdhr_blue }\n';
      const text = `${STACK}${external}${POOL.replace('bkdhr_blue: 100', 'External/blue: 100, bkdhr_green: 20')}`;
      const { edgewise, folder, ...workspace } = await createWorkspace({ [FILE]: text });
      expect(await edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
      await changeByHand(workspace, 'WeightedBackend/pool', { backends: { bkdhr_blue: 50, bkdhr_green: 30 } });
      expect(await edgewise(`accept WeightedBackend/pool:${field} m --yes`)).toMatchObject({ exitCode: 0 });
      const after = text.replace('External/blue: 100', 'External/blue: 50');
      expect(await readFile(join(folder, FILE), 'utf8')).toBe(after);
    },
  );

  it('ends with 3 for a name that the manifests do not have', async () => {
    const { edgewise } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    expect(await edgewise('accept m')).toMatchObject({ exitCode: 3 });
    expect(await edgewise('accept TCPEdge/pgg m')).toMatchObject({ exitCode: 3, stderr: /Did you mean TCPEdge\/pg\?/ });
    expect(await edgewise('accept TCPEdge/pg:nothing m')).toMatchObject({
      exitCode: 3,
      stderr: /has no field nothing/,
    });
  });
});

describe('a resource that no longer exists', () => {
  async function createVanished(): Promise<Workspace & { readonly id: string }> {
    const workspace = await createWorkspace({
      [FILE]: `${STACK}${POOL}${EDGE}`,
      'm/only.yaml': POOL.replace('pool', 'only'),
    });
    expect(await workspace.edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
    const [edge] = workspace.server.snapshot().resources['TCPEdge'] ?? [];
    const id = String(edge?.['id']);
    await sendByHand(workspace, 'DELETE', `/edges/tcp/${id}`);
    return { ...workspace, id };
  }

  it('is listed by --all, and loses its document if it is named with its id', async () => {
    const { edgewise, folder, id } = await createVanished();
    const all = await edgewise('accept --all m --yes');
    expect(all).toMatchObject({ exitCode: 0 });
    expect(all.stdout).toContain('  TCPEdge/pg does not exist, or was never applied.');
    const unknown = await edgewise('accept TCPEdge/pg m --yes');
    expect(unknown).toMatchObject({ exitCode: 1 });
    expect(unknown.stdout).toContain('its id is not known');
    expect(unknown.stdout).toContain('Name its id, from an earlier report: TCPEdge/pg@edgtcp_…');
    expect(await edgewise(`accept TCPEdge/pg@${id} m --yes`)).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(folder, FILE), 'utf8')).toBe(`${STACK}${POOL}`);
  });

  it('keeps its document while the service has it', async () => {
    const { edgewise, server } = await createVanished();
    const [pool] = server.snapshot().resources['WeightedBackend'] ?? [];
    const wrong = await edgewise(`accept TCPEdge/pg@${pool?.['id']} m --yes`);
    expect(wrong).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('has no id such as bkdwd_') });
    const [edge] = [await sendByHand({ server }, 'POST', '/edges/tcp', { hostports: ['9.tcp.example.net:9'] })];
    const there = await edgewise(`accept TCPEdge/pg@${edge['id']} m --yes`);
    expect(there).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('exists: the service has') });
  });

  it('takes its file with it if that has no other document', async () => {
    const { edgewise, folder, server, recorder: _ } = await createVanished();
    const only = server.snapshot().resources['WeightedBackend']?.at(-1);
    const first = server.snapshot().resources['WeightedBackend']?.[0];
    for (const one of [only, first])
      if (String(one?.['metadata']).includes('only')) {
        await sendByHand({ server }, 'DELETE', `/backends/weighted/${one?.['id']}`);
        expect(await edgewise(`accept WeightedBackend/only@${one?.['id']} m --yes`)).toMatchObject({ exitCode: 0 });
      }
    await expect(readFile(join(folder, 'm/only.yaml'))).rejects.toThrow('ENOENT');
  });
});

const KEYS = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L a',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM1xTIJAXlyOZP77sn5Y2lP2GlELDsRKsocwxVwz8im+ b',
] as const;

/** What cannot be written back: the lines of the manifest, what is changed, and the reason. */
const REFUSED: readonly {
  readonly why: string;
  readonly text: string;
  readonly body: object;
  readonly says: string;
  readonly name?: string;
  readonly apply?: string;
  readonly env?: Record<string, string>;
}[] = [
  {
    why: 'a variable',
    text: toEdgeText('description: "$'.concat('{env:WORD}"')),
    body: { description: 'by hand' },
    says: 'TCPEdge/pg: comes from a variable',
    env: { WORD: 'x', EDGEWISE_ENV: 'WORD' },
  },
  {
    why: 'an alias',
    text: `${toEdgeText('description: *text').replace('metadata: { name: pg }', 'metadata: { name: pg, annotations: { a: &text x } }')}`,
    body: { description: 'by hand' },
    says: 'TCPEdge/pg: comes from an alias',
  },
  {
    why: 'an anchor that an alias uses',
    text: `${toEdgeText('description: &text x', 'metadata: *text')}`,
    body: { description: 'by hand' },
    says: 'TCPEdge/pg: has an anchor that an alias uses',
  },
  {
    why: 'a merge key',
    text: `---
apiVersion: edgewise/v1
kind: List
items:
  - apiVersion: edgewise/v1
    kind: TCPEdge
    metadata: { name: pg }
    spec:
      <<: { description: x }
      hostports: ["1.tcp.example.net:20001"]
`,
    body: { description: 'by hand' },
    says: 'TCPEdge/pg: comes from a merge key',
  },
  {
    why: 'an ignored field',
    text: `${toEdgeText('description: x')}lifecycle: { ignore: [description] }\n`,
    body: { description: 'by hand' },
    name: 'TCPEdge/pg:description',
    says: 'TCPEdge/pg: description is left to others: lifecycle.ignore names it',
  },
  {
    why: 'a text that looks like a secret',
    text: toEdgeText('description: x'),
    body: { description: 'https://admin:hunter22@example.com/' },
    says: 'TCPEdge/pg: looks like a secret',
  },
  {
    why: 'a hidden value',
    text: toEdgeText('policy: { inbound: [{ actions: [{ type: log, config: { metadata: { a: b } } }] }] }'),
    body: { policy: { inbound: [{ actions: [{ type: 'log', config: { metadata: { token: 'hunter22' } } }] }] } },
    name: 'TCPEdge/pg:policy',
    says: 'is hidden at the service',
  },
];

describe('what cannot be written back', () => {
  it.each(REFUSED)('is refused with its place: $why', async ({ text, body, says, name = 'TCPEdge/pg', env }) => {
    const whole = `${STACK}${text}`;
    const { edgewise, read } = await createDrifted(whole, body, { ...(env && { env }) });
    const result = await edgewise(`accept ${name} m --yes`, { ...(env && { env }) });
    expect(result).toMatchObject({ exitCode: 1 });
    expect(result.stdout).toContain(says);
    expect(result.stdout).toContain('error[accept-refused]');
    expect(result.stdout).toMatch(/--> m\/all\.yaml:\d+/);
    expect(result.stdout).not.toContain('hunter22');
    expect(await read()).toBe(whole);
  });

  it('is what standard input has', async () => {
    const text = `${STACK}${EDGE}`;
    const { edgewise } = await createDrifted(text, { description: 'by hand' });
    const result = await edgewise('accept --all - --yes', { stdin: text });
    expect(result).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('is read from standard input') });
  });

  it('is a resource without a manifest', async () => {
    const { edgewise, write } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    await write({ [FILE]: STACK });
    const all = await edgewise('accept --all m --yes');
    expect(all).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('TCPEdge/pg has the mark of the stack') });
    const named = await edgewise('accept TCPEdge/pg m --yes');
    expect(named).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('edgewise export TCPEdge') });
  });

  it('is the text of a file that the manifest names', async () => {
    const certificate = `---
apiVersion: edgewise/v1
kind: SSHUserCertificate
metadata: { name: alice }
spec:
  ssh_certificate_authority_id: sshca_1
  public_key: { file: ../alice.pub }
  principals: [alice]
lifecycle: { valid_for: 30d }
`;
    const { edgewise, write, folder } = await createWorkspace({
      [FILE]: `${STACK}${certificate}`,
      'alice.pub': KEYS[0],
    });
    expect(await edgewise('apply m --yes')).toMatchObject({ exitCode: 0 });
    await write({ 'alice.pub': KEYS[1] });
    const result = await edgewise('accept SSHUserCertificate/alice:public_key m --yes');
    expect(result).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(
        /SSHUserCertificate\/alice: is in a file that the manifest names[\s\S]*--> m\/all\.yaml:11:15/,
      ),
    });
    expect(await readFile(join(folder, 'alice.pub'), 'utf8')).toBe(KEYS[1]);
  });

  it('is a file behind a link of the checkout', async () => {
    const { edgewise, folder } = await createDrifted(`${STACK}${EDGE}`, { description: 'by hand' });
    await mkdir(join(folder, 'other'));
    await rename(join(folder, FILE), join(folder, 'other/all.yaml'));
    await symlink('../other/all.yaml', join(folder, FILE));
    const result = await edgewise('accept --all m --yes');
    expect(result).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('m/all.yaml is a symbolic link') });
    expect(await readFile(join(folder, 'other/all.yaml'), 'utf8')).toBe(`${STACK}${EDGE}`);
  });

  it('writes the other resources, and ends with 1', async () => {
    const other = EDGE.replace('name: pg', 'name: other')
      .replace('20001', '20002')
      .replace('description: Postgres', 'description: "$'.concat('{env:WORD}"'));
    const env = { WORD: 'x', EDGEWISE_ENV: 'WORD' };
    const { edgewise, read, server } = await createDrifted(
      `${STACK}${EDGE}${other}`,
      { description: 'by hand' },
      { env },
    );
    for (const { id } of server.snapshot().resources['TCPEdge'] ?? [])
      await sendByHand({ server }, 'PATCH', `/edges/tcp/${id}`, { description: 'by hand' });
    expect(await edgewise('accept --all m --yes', { env })).toMatchObject({ exitCode: 1 });
    expect(await read()).toBe(`${STACK}${EDGE.replace('Postgres', 'by hand')}${other}`);
  });
});
