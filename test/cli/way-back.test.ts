import { describe, expect, it } from 'vitest';
import { splitMetadata } from '../../src/model/mark.ts';
import { selectTypical } from '../cases.ts';
import { ED25519_KEY } from '../server/ssh-keys.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from './workspace.ts';

const TOKENS = '--token-directory tokens';

/** The kind, the id and the mark of each resource at the service. */
function listLive({ server }: Workspace): readonly string[] {
  return Object.entries(server.snapshot().resources ?? {})
    .flatMap(([kind, all]) =>
      all.map(({ id, metadata }) => {
        const { mark } = splitMetadata(String(metadata ?? ''));
        return `${kind} ${id} ${mark?.stack}/${mark?.name}`;
      }),
    )
    .sort();
}

function listWrites({ recorder }: Workspace): readonly string[] {
  return recorder.take().flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));
}

/** Applies one text after the other, and returns the workspace with what was live after each. */
async function createHistory(...texts: readonly string[]): Promise<{ workspace: Workspace; states: string[][] }> {
  const workspace = await createWorkspace({});
  const states: string[][] = [];
  for (const text of texts) {
    await workspace.write({ 'm.yaml': text });
    const { exitCode, stdout } = await workspace.edgewise(`apply m.yaml --yes ${TOKENS}`);
    expect(exitCode, stdout).toBe(0);
    states.push([...listLive(workspace)]);
  }
  workspace.recorder.take();
  return { workspace, states };
}

const renamed = (text: string, from: string): string => `${text}lifecycle: { renamed_from: ${from} }\n`;

describe('the revert of a rename', () => {
  it('gives the same resource, and so does the revert of the revert', async () => {
    const [before, after] = [`${STACK}${toEdge('a', 20001)}`, `${STACK}${toEdge('b', 20001)}`];
    const { workspace, states } = await createHistory(before, renamed(after, 'a'));
    const steps = [
      [before, states[0]],
      [after, states[1]],
      [before, states[0]],
    ] as const;
    for (const [text, state] of steps) {
      await workspace.write({ 'm.yaml': text });
      const plan = await workspace.edgewise('plan m.yaml');
      expect(plan.stdout).toContain('update: renamed back from TCPEdge/');
      expect(await workspace.edgewise('apply m.yaml --yes')).toMatchObject({ exitCode: 0 });
      expect(listLive(workspace)).toEqual(state);
      expect(listWrites(workspace)).toEqual([expect.stringMatching(/^PATCH \/edges\/tcp\/edgtcp_\w+$/)]);
      expect((await workspace.edgewise('plan m.yaml --detailed-exitcode')).exitCode).toBe(0);
    }
  });
});

describe('the revert of a rename of what refers to something', () => {
  it('follows the references that are renamed with it', async () => {
    const text = (pool: string, edge: string): string =>
      [
        STACK,
        toManifest('WeightedBackend', pool, { backends: { bkdhr_a: 1 } }),
        toManifest('TCPEdge', edge, {
          hostports: ['1.tcp.example.net:20001'],
          backend: { backend_id: `WeightedBackend/${pool}` },
        }),
      ].join('');
    const line = (name: string): object => ({ lifecycle: { renamed_from: name } });
    const after = [
      STACK,
      toManifest('WeightedBackend', 'lake', { backends: { bkdhr_a: 1 } }, line('pool')),
      toManifest(
        'TCPEdge',
        'b',
        { hostports: ['1.tcp.example.net:20001'], backend: { backend_id: 'WeightedBackend/lake' } },
        line('a'),
      ),
    ].join('');
    const { workspace, states } = await createHistory(text('pool', 'a'), after);
    await workspace.write({ 'm.yaml': text('pool', 'a') });
    expect((await workspace.edgewise('plan m.yaml')).stdout).toContain('0 to delete, 0 to replace, 2 to update');
    expect((await workspace.edgewise('apply m.yaml --yes')).exitCode).toBe(0);
    expect(listLive(workspace)).toEqual(states[0]);
  });
});

describe('the revert of a rename of a credential', () => {
  const [before, after] = [`${STACK}${toCredential('a')}`, `${STACK}${renamed(toCredential('b'), 'a')}`];

  it('needs an answer, and keeps the token then', async () => {
    const { workspace, states } = await createHistory(before, after);
    await workspace.write({ 'm.yaml': before });
    const plan = await workspace.edgewise(`plan m.yaml ${TOKENS}`);
    expect(plan.exitCode).toBe(5);
    expect(plan.stdout).toContain('! secrets: keeps its token or certificate: cr_');
    expect(plan.stdout).toContain('lifecycle: { renamed_from: b }');
    const refused = await workspace.edgewise(`apply m.yaml --yes --allow-deletes ${TOKENS}`);
    expect(refused.exitCode).toBe(5);
    expect(listWrites(workspace)).toEqual([]);
    const applied = await workspace.edgewise(`apply m.yaml ${TOKENS}`, { answers: ['yes'] });
    expect(applied.exitCode, applied.stdout).toBe(0);
    expect(applied.stderr).toContain('These keep what was handed out: Credential/a.');
    expect(listLive(workspace)).toEqual(states[0]);
    expect(listWrites(workspace)).toEqual([expect.stringMatching(/^PATCH/)]);
  });

  it('is the same for a certificate, whose holder has it', async () => {
    const certificate = (name: string, more: object = {}): string =>
      toManifest(
        'SSHUserCertificate',
        name,
        { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1', principals: ['alice'] },
        more,
      );
    const { workspace, states } = await createHistory(
      `${STACK}${certificate('a')}`,
      `${STACK}${certificate('b', { lifecycle: { renamed_from: 'a' } })}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${certificate('a')}` });
    const refused = await workspace.edgewise('apply m.yaml --yes --allow-deletes');
    expect(refused).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('refused[renamed-back]') });
    expect(listWrites(workspace)).toEqual([]);
    expect(await workspace.edgewise('apply m.yaml', { answers: ['yes'] })).toMatchObject({ exitCode: 0 });
    expect(listLive(workspace)).toEqual(states[0]);
  });

  it('asks once for many, and prints the line of each', async () => {
    const all = ['a', 'c'];
    const { workspace } = await createHistory(
      `${STACK}${all.map(toCredential).join('')}`,
      `${STACK}${all.map((name) => renamed(toCredential(`${name}2`), name)).join('')}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${all.map(toCredential).join('')}` });
    const { stdout } = await workspace.edgewise(`plan m.yaml ${TOKENS}`);
    expect(stdout.match(/refused\[/g)).toHaveLength(1);
    expect(stdout).toContain('2 credentials or certificates would be renamed back, with what was handed out of them.');
    expect(stdout).toContain('Credential/a: renamed_from: a2\n        Credential/c: renamed_from: c2\n');
  });

  it('takes the old one along, after a rotation under the new name', async () => {
    const lifecycle = (more: string): string => `lifecycle: { keep_old_for: 24h${more} }\n`;
    const first = `${STACK}${toCredential('a')}${lifecycle('')}`;
    const { workspace } = await createHistory(first, `${STACK}${toCredential('b')}${lifecycle(', renamed_from: a')}`);
    const rotated = await workspace.edgewise(`apply m.yaml --yes --rotate Credential/b ${TOKENS}`);
    expect(rotated.exitCode, rotated.stdout).toBe(0);
    const before = listLive(workspace);
    expect(before).toHaveLength(2);
    await workspace.write({ 'm.yaml': first });
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise(`apply m.yaml ${TOKENS}`, { answers: ['yes'] });
    expect(exitCode, stdout).toBe(0);
    expect(listLive(workspace)).toEqual(before.map((one) => one.replace('test/b', 'test/a')));
    expect(listWrites(workspace)).toEqual([expect.stringMatching(/^PATCH/), expect.stringMatching(/^PATCH/)]);
    expect((await workspace.edgewise(`plan m.yaml --detailed-exitcode ${TOKENS}`)).exitCode).toBe(0);
  });

  it('names ten of them at most, and three in the question', async () => {
    const all = Array.from({ length: 12 }, (_, index) => `c${10 + index}`);
    const { workspace } = await createHistory(
      `${STACK}${all.map(toCredential).join('')}`,
      `${STACK}${all.map((name) => renamed(toCredential(`${name}x`), name)).join('')}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${all.map(toCredential).join('')}` });
    const { stdout } = await workspace.edgewise(`plan m.yaml ${TOKENS}`);
    expect(stdout).toContain('Credential/c19: renamed_from: c19x\n        and 2 more, as their changes show\n');
    const declined = await workspace.edgewise(`apply m.yaml ${TOKENS}`, { answers: ['no'] });
    expect(declined.stderr).toContain(': Credential/c10, Credential/c11, Credential/c12 and 9 more. Only');
    expect(declined.exitCode).toBe(130);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('needs none with the line, or for a new token', async () => {
    const { workspace, states } = await createHistory(before, after);
    await workspace.write({ 'm.yaml': `${STACK}${renamed(toCredential('a'), 'b')}` });
    expect((await workspace.edgewise(`plan m.yaml ${TOKENS}`)).stdout).not.toContain('keeps its token or certificate');
    await workspace.write({ 'm.yaml': before });
    const rotated = await workspace.edgewise(`apply m.yaml --yes --rotate Credential/a ${TOKENS}`);
    expect(rotated.exitCode, rotated.stdout).toBe(0);
    expect(listLive(workspace)).toHaveLength(1);
    expect(listLive(workspace)).not.toEqual(states[0]);
  });
});

describe('a resource that had the name of a manifest', () => {
  it('is as any other if a field differs, and the plan prints the line', async () => {
    const { workspace } = await createHistory(
      `${STACK}${toEdge('a', 20001)}`,
      `${STACK}${renamed(toEdge('b', 20001), 'a')}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${toEdge('a', 20002)}` });
    const { stdout } = await workspace.edgewise('plan m.yaml');
    expect(stdout).toContain('1 to delete, 0 to replace, 0 to update, 0 to adopt, 1 to create');
    expect(stdout).toMatch(
      /TCPEdge\/b \(edgtcp_\w+\) had the name TCPEdge\/a before, and is not renamed back: the manifest differs from it in hostports/,
    );
    expect(stdout).toContain('lifecycle: { renamed_from: b }');
    expect(stdout.match(/predecessor-unclear/g)).toHaveLength(1);
  });

  it('is named once if it also looks like a renamed one', async () => {
    const { workspace } = await createHistory(
      `${STACK}${toEdge('a', 20001)}`,
      `${STACK}${renamed(toEdge('b', 20001), 'a')}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${toEdge('a', 20001)}  description: other\n` });
    const { stdout } = await workspace.edgewise('plan m.yaml');
    expect(stdout).toContain('is not renamed back: the manifest differs from it in description');
    expect(stdout).not.toContain('claims all unique values of TCPEdge/b');
    expect(stdout.match(/predecessor-unclear/g)).toHaveLength(1);
  });

  it('is deleted if it had one more name since, and the plan prints the line', async () => {
    const pool = (name: string, more: object = {}): string =>
      toManifest('WeightedBackend', name, { backends: { bkdhr_a: 1 } }, more);
    const line = (name: string): object => ({ lifecycle: { renamed_from: name } });
    const kept = toEdge('kept', 20009);
    const { workspace } = await createHistory(
      `${STACK}${kept}${pool('a')}`,
      `${STACK}${kept}${pool('b', line('a'))}`,
      `${STACK}${kept}${pool('c', line('b'))}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${kept}${pool('a')}` });
    const { stdout } = await workspace.edgewise('plan m.yaml');
    expect(stdout).toMatch(/WeightedBackend\/a has the fields of WeightedBackend\/c \(bkdwd_\w+\), which is deleted/);
    expect(stdout).toContain('renamed_from: c');
    await workspace.write({ 'm.yaml': `${STACK}${kept}${pool('a')}${pool('a2')}` });
    expect((await workspace.edgewise('plan m.yaml')).stdout).not.toContain('has the fields of');
  });

  it('does not become that of a manifest that has one', async () => {
    const { workspace } = await createHistory(
      `${STACK}${toEdge('a', 20001)}`,
      `${STACK}${renamed(toEdge('b', 20001), 'a')}`,
      `${STACK}${toEdge('b', 20001)}${toEdge('a', 20002)}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${toEdge('a', 20002)}` });
    const { stdout } = await workspace.edgewise('plan m.yaml');
    expect(stdout).toMatch(/is not renamed back: edgtcp_\w+ has this name/);
    expect(stdout).toContain('1 to delete, 0 to replace, 0 to update');
  });

  it('is unclear if there are two', async () => {
    const pool = (name: string): string => toManifest('WeightedBackend', name, { backends: { bkdhr_a: 1 } });
    const line = (name: string, from: string): string =>
      toManifest('WeightedBackend', name, { backends: { bkdhr_a: 1 } }, { lifecycle: { renamed_from: from } });
    const { workspace } = await createHistory(
      `${STACK}${pool('a')}`,
      `${STACK}${line('b', 'a')}`,
      `${STACK}${pool('b')}${pool('a')}`,
      `${STACK}${pool('b')}${line('c', 'a')}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${pool('a')}` });
    const { stdout } = await workspace.edgewise('plan m.yaml');
    expect(stdout).toMatch(
      /WeightedBackend\/b \(bkdwd_\w+\) and WeightedBackend\/c \(bkdwd_\w+\) had the name WeightedBackend\/a before, and are not renamed back: it is unclear/,
    );
    expect(stdout).toContain('2 to delete, 0 to replace, 0 to update, 0 to adopt, 1 to create');
  });
});

describe('the revert of a move to another stack', () => {
  const toStack = (name: string): string => STACK.replace('name: test', `name: ${name}`);
  const moved = (text: string): string =>
    text.endsWith('}\n')
      ? text.replace(/\}\n$/, ',"lifecycle":{"renamed_from":{"stack":"a","name":"x"}}}\n')
      : `${text}lifecycle: { renamed_from: { stack: a, name: x } }\n`;

  async function createMove(text: string): Promise<Workspace> {
    const stays = toEdge('stays', 20009);
    const workspace = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${text}`,
      'live/b/edgewise.yaml': `${toStack('b')}${stays}`,
    });
    const apply = async (): Promise<void> => {
      const { exitCode, stdout } = await workspace.edgewise(`apply -R live --yes --allow-deletes ${TOKENS}`);
      expect(exitCode, stdout).toBe(0);
    };
    await apply();
    await workspace.write({
      'live/a/edgewise.yaml': toStack('a'),
      'live/b/edgewise.yaml': `${toStack('b')}${stays}${moved(text)}`,
    });
    await apply();
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a')}${text}`,
      'live/b/edgewise.yaml': `${toStack('b')}${stays}`,
    });
    workspace.recorder.take();
    return workspace;
  }

  it('gives the same resource, with consent, and each stack alone keeps it', async () => {
    const workspace = await createMove(toEdge('x', 20001));
    const alone = await workspace.edgewise('apply live/b --yes');
    expect(alone.stdout).toContain('kept-for-hand-over');
    const refused = await workspace.edgewise('apply live/a --yes');
    expect(refused).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('--allow-take-over b') });
    expect(listWrites(workspace)).toEqual([]);
    const applied = await workspace.edgewise('apply -R live --yes --allow-take-over b');
    expect(applied.exitCode, applied.stdout).toBe(0);
    expect(applied.stdout).toContain('take over: back from the stack b, where it is TCPEdge/x');
    expect(listWrites(workspace)).toEqual([expect.stringMatching(/^PATCH/)]);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('needs an answer too for a credential', async () => {
    const workspace = await createMove(toCredential('x'));
    const state = listLive(workspace);
    const refused = await workspace.edgewise(`apply -R live --yes --allow-take-over b --allow-deletes ${TOKENS}`);
    expect(refused.exitCode).toBe(5);
    expect(refused.stdout).toContain('lifecycle: { renamed_from: { stack: b, name: x } }');
    expect(listWrites(workspace)).toEqual([]);
    const applied = await workspace.edgewise(`apply -R live ${TOKENS}`, { answers: ['b'] });
    expect(applied.exitCode, applied.stdout).toBe(0);
    expect(listLive(workspace)).toEqual(state.map((one) => one.replace('b/x', 'a/x')));
  });

  it('moves nothing that differs, and nothing while the other stack describes it or is not here', async () => {
    const workspace = await createMove(toEdge('x', 20001));
    await workspace.write({ 'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20002)}` });
    const differs = await workspace.edgewise('plan live/a --allow-take-over b');
    expect(differs.stdout).toContain('had the name TCPEdge/x before, and is not renamed back: the manifest differs');
    expect(differs.stdout).toContain('0 to adopt, 1 to create');
    await workspace.write({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20001)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${toEdge('stays', 20009)}${toEdge('x', 20001)}`,
    });
    expect((await workspace.edgewise('plan live/a --allow-take-over b')).stdout).not.toContain('to take over');
    await workspace.write({ 'live/b/edgewise.yaml': toStack('c') });
    expect((await workspace.edgewise('plan live/a --allow-take-over b')).stdout).not.toContain('to take over');
  });

  it('is none while the other stack still describes the resource', async () => {
    const pool = toManifest('WeightedBackend', 'x', { backends: { bkdhr_a: 1 } });
    const workspace = await createMove(pool);
    await workspace.write({ 'live/b/edgewise.yaml': `${toStack('b')}${toEdge('stays', 20009)}${pool}` });
    const { exitCode, stdout } = await workspace.edgewise('plan live/a --allow-take-over b');
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toContain('0 to adopt, 1 to create');
    expect(stdout).not.toContain('renamed back');
  });
});

/** The manifest before, after an edit, and a danger of its delete. */
const EDITED: Readonly<Record<string, readonly [string, string, RegExp]>> = {
  'with its unique value': [
    toManifest('TCPEdge', 'x', { hostports: ['1.tcp.example.net:20001'], description: 'before' }),
    toManifest('TCPEdge', 'x', { hostports: ['1.tcp.example.net:20001'], description: 'after' }),
    /! traffic: will be deleted/,
  ],
  'with another unique value': [
    toManifest('TCPEdge', 'x', { hostports: ['1.tcp.example.net:20001'] }),
    toManifest('TCPEdge', 'x', { hostports: ['1.tcp.example.net:20002'] }),
    /! traffic: will be deleted/,
  ],
  'without one': [
    toManifest('WeightedBackend', 'x', { backends: { bkdhr_a: 1 } }),
    toManifest('WeightedBackend', 'x', { backends: { bkdhr_a: 2 } }),
    /^/,
  ],
  'of a credential': [
    toManifest('Credential', 'x', { description: 'before' }),
    toManifest('Credential', 'x', { description: 'after' }),
    /! secrets: will lose its token/,
  ],
};

const withLine = (text: string, line: object): string => {
  const document = JSON.parse(text.replace('---\n', ''));
  return `---\n${JSON.stringify({ ...document, lifecycle: line })}\n`;
};

describe('the revert of a move and an edit there', () => {
  const KEPT = { a: toEdge('kept-a', 20008), b: toEdge('kept-b', 20009) };
  const toFile = (name: 'a' | 'b', text = ''): string => `${STACK.replace('test', name)}${KEPT[name]}${text}`;

  /** Moves a resource to the other stack, edits it there, and restores the manifests of both as they were. */
  async function createRevert(from: 'a' | 'b', [before, after]: readonly [string, string, RegExp], name: string) {
    const to = from === 'a' ? 'b' : 'a';
    const workspace = await createWorkspace();
    const there = (text: string): string =>
      withLine(text.replace('"name":"x"', `"name":"${name}"`), { renamed_from: { stack: from, name: 'x' } });
    const write = (own: string, other = ''): Promise<void> =>
      workspace.write({ [`live/${from}/m.yaml`]: toFile(from, own), [`live/${to}/m.yaml`]: toFile(to, other) });
    for (const [own, other] of [[before], ['', there(before)], ['', there(after)], [before]] as const) {
      await write(own, other);
      if (own === before && listLive(workspace).length > 0) break;
      const { exitCode, stdout } = await workspace.edgewise(`apply -R live --yes ${TOKENS}`);
      expect(exitCode, stdout).toBe(0);
    }
    workspace.recorder.take();
    return { workspace, to };
  }

  // The stack that is planned first must not keep what the other one does not take back.
  const CASES = Object.keys(EDITED).flatMap((sort) =>
    (['a', 'b'] as const).map((from) => ({ sort, from, name: from === 'a' ? 'x' : 'y' })),
  );

  it.each(selectTypical(CASES, 'sort', 'from'))(
    'deletes and creates it in one run, with the line: $sort, from $from, as $name',
    async ({ sort, from, name }) => {
      const texts = EDITED[sort] ?? ['', '', /^/];
      const { workspace, to } = await createRevert(from, texts, name);
      const { exitCode, stdout } = await workspace.edgewise(`plan -R live ${TOKENS}`);
      expect(exitCode, stdout).toBe(0);
      expect(stdout).toMatch(
        new RegExp(
          `/${name} of the stack ${to} \\(\\w+\\) had the name \\w+/x before, and is not renamed back: the manifest`,
        ),
      );
      expect(stdout).toContain(`lifecycle: { renamed_from: { stack: ${to}, name: ${name} } }`);
      expect(stdout).toMatch(texts[2]);
      expect((await workspace.edgewise(`drift -R live`)).stdout).toMatch(new RegExp(`/${name}\\b`));
      // What is planned again after the answer is what was shown.
      const applied = await workspace.edgewise(`apply -R live ${TOKENS}`, { answers: ['yes'] });
      expect(applied.exitCode, applied.stdout).toBe(0);
      const writes = listWrites(workspace).map((one) => one.split(' ')[0]);
      expect(writes.filter((method) => method !== 'PATCH').toSorted()).toEqual(['DELETE', 'POST']);
      expect((await workspace.edgewise(`plan -R live --detailed-exitcode ${TOKENS}`)).exitCode).toBe(0);
    },
  );

  it('is refused in the former stack alone, with the line, and the other alone keeps what has the value', async () => {
    const { workspace } = await createRevert('a', EDITED['with its unique value'] ?? ['', '', /^/], 'y');
    const alone = await workspace.edgewise('apply live/a --yes');
    expect(alone).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('refused[claimed-elsewhere]') });
    expect(alone.stdout).toContain('lifecycle: { renamed_from: { stack: b, name: y } }');
    const other = await workspace.edgewise('apply live/b --yes');
    expect(other.exitCode).toBe(0);
    expect(other.stdout).toMatch(
      /^warning\[kept-for-hand-over\]: TCPEdge\/y \(\w+\) is in no manifest, and is kept: the stack a may take it back as TCPEdge\/x\n +help: .* a run over both stacks \(--recursive\) deletes it here\.$/m,
    );
    expect(listWrites(workspace)).toEqual([]);
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect(listWrites(workspace).map((one) => one.split(' ')[0])).toEqual(['DELETE', 'POST']);
  });

  it('leaves the other in its stack, if each is applied alone, until the former stack has its own', async () => {
    const { workspace } = await createRevert('a', EDITED['without one'] ?? ['', '', /^/], 'x');
    const methods: string[] = [];
    for (const folder of ['live/b', 'live/a', 'live/b']) {
      expect((await workspace.edgewise(`apply ${folder} --yes`)).exitCode).toBe(0);
      methods.push(
        listWrites(workspace)
          .map((one) => one.split(' ')[0])
          .join(),
      );
    }
    expect(methods).toEqual(['', 'POST', 'DELETE']);
  });
});

describe('the revert of a rename and an edit', () => {
  it.each(Object.entries(EDITED))('deletes and creates it, with the line: %s', async (_, [before, after, danger]) => {
    const kept = toEdge('kept', 20009);
    const there = (text: string): string => withLine(text.replace('"name":"x"', '"name":"y"'), { renamed_from: 'x' });
    const { workspace } = await createHistory(
      `${STACK}${kept}${before}`,
      `${STACK}${kept}${there(before)}`,
      `${STACK}${kept}${there(after)}`,
    );
    await workspace.write({ 'm.yaml': `${STACK}${kept}${before}` });
    const { exitCode, stdout } = await workspace.edgewise(`plan m.yaml ${TOKENS}`);
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toContain('lifecycle: { renamed_from: y }');
    expect(stdout).toMatch(danger);
    expect((await workspace.edgewise(`apply m.yaml --yes ${TOKENS}`)).exitCode).toBe(0);
    const writes = listWrites(workspace).map((one) => one.split(' ')[0]);
    expect(writes.filter((method) => method !== 'PATCH').toSorted()).toEqual(['DELETE', 'POST']);
  });
});
