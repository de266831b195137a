import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from './workspace.ts';

const EDGE = toEdge('a', 20001);
const OTHER = STACK.replace('name: test', 'name: other');
const RENAMED = STACK.replace('name: test', 'name: test\n  renamed_from: other');
const ALLOWED = '--allow-take-over other';

/** An edge of the stack `other`, and manifests of `test`, which had that name, that also describe it. */
async function createTakeOver(more: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const files = { 'other.yaml': `${OTHER}${EDGE}` };
  const workspace = await createWorkspace(files);
  await workspace.edgewise('apply other.yaml --yes');
  await rm(join(workspace.folder, 'other.yaml'));
  await workspace.write({ 'test.yaml': `${RENAMED}${EDGE}`, ...more });
  workspace.recorder.take();
  return workspace;
}

function listWrites({ recorder }: Workspace): readonly string[] {
  return recorder.take().flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));
}

describe('a stack with a former name', () => {
  it('lists what keeps the mark of the former name', async () => {
    const { edgewise } = await createTakeOver({ 'empty.yaml': `${RENAMED}${toEdge('b', 20002)}` });
    const { stdout, exitCode } = await edgewise('plan empty.yaml');
    expect(exitCode).toBe(0);
    expect(stdout.match(/warning\[predecessor-unclear\][\s\S]*?\n\n/)?.[0].replace(/edgtcp_\w+/g, 'ID')).toBe(
      [
        'warning[predecessor-unclear]: 1 resource keeps the mark of other, a former name of this stack: TCPEdge/a (ID, in no document)',
        '  help: Describe what is missing by its kind and name. What is not needed any more, delete by hand. Then remove the name from renamed_from.',
        '\n',
      ].join('\n'),
    );
  });

  it('says that the former name has no effect where the stack has the resource', async () => {
    const workspace = await createTakeOver({ 'test.yaml': `${STACK}${toCredential('a')}` });
    await workspace.write({
      'other.yaml': `${OTHER}${toCredential('a')}`,
      'renamed.yaml': `${RENAMED}${toCredential('a')}`,
    });
    for (const file of ['other', 'test'])
      await workspace.edgewise(`apply ${file}.yaml --yes --allow-deletes --token-directory ${file}`);
    await rm(join(workspace.folder, 'other.yaml'));
    const { stdout, exitCode } = await workspace.edgewise('plan renamed.yaml --detailed-exitcode');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /1 resource keeps the mark of other.*Credential\/a \(cr_\w+, which this stack has or finds twice\)/,
    );
  });

  it.each([
    [5, 5],
    [6, 1],
  ])('is one line for many manifests that adopt, and not for few: %i give %i errors', async (count, errors) => {
    const { edgewise, folder } = await createWorkspace({
      'other.yaml': `${OTHER}${Array.from({ length: count }, (_, index) => toEdge(`e${index}`, 20_000 + index)).join('')}`,
    });
    await edgewise('apply other.yaml --yes');
    await rm(join(folder, 'other.yaml'));
    await edgewise('export -o manifests --owner other');
    const stack = join(folder, 'manifests/edgewise.yaml');
    const text = await readFile(stack, 'utf8');
    await writeFile(stack, text.replace('name: other', 'name: test'));
    const { exitCode, stdout } = await edgewise('plan manifests');
    expect([exitCode, stdout.match(/adopt-refused/g)?.length]).toEqual([3, errors]);
    expect(stdout).toContain('renamed_from: other\n');
    if (errors === 1)
      expect(stdout).toMatch(
        /: 6 resources to adopt belong to the stack other, by the same names, such as TCPEdge\/e0\n/,
      );
    await writeFile(stack, text.replace('name: other', 'name: test\n  renamed_from: other'));
    expect(await edgewise(`apply manifests --yes ${ALLOWED}`)).toMatchObject({ exitCode: 0 });
  });

  it('finds a resource twice, and says so', async () => {
    const two = STACK.replace('name: test', 'name: test\n  renamed_from: [other, third]');
    const third = STACK.replace('name: test', 'name: third');
    const { edgewise, write } = await createWorkspace();
    for (const stack of [OTHER, third]) {
      await write({ 'test.yaml': `${stack}${toCredential('a')}` });
      await edgewise('apply test.yaml --yes --token-directory {stack}');
    }
    await write({ 'test.yaml': `${two}${toCredential('a')}` });
    const { stdout, exitCode } = await edgewise('plan test.yaml --token-directory test');
    expect(stdout).toMatch(
      /Credential\/a: renamed_from of the Stack has no effect here, .* cr_\w+ of other, cr_\w+ of third/,
    );
    expect(stdout).toContain('1 to create');
    expect(exitCode).toBe(0);
  });

  it('needs consent, which no file gives', async () => {
    const workspace = await createTakeOver();
    const plan = await workspace.edgewise('plan test.yaml');
    expect(plan.exitCode).toBe(5);
    expect(plan.stdout).toContain('take over: from the stack other, where it is TCPEdge/a');
    expect(plan.stdout).toContain('--allow-take-over other');
    for (const consent of ['--yes', '--yes --allow-take-over third', '--yes --allow-deletes']) {
      const refused = await workspace.edgewise(`apply test.yaml ${consent}`);
      expect(refused).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('--allow-take-over other') });
    }
    expect(listWrites(workspace)).toEqual([]);
    expect((await workspace.edgewise(`plan test.yaml ${ALLOWED}`)).exitCode).toBe(0);
    expect((await workspace.edgewise(`apply test.yaml --yes ${ALLOWED}`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual([expect.stringMatching(/^PATCH \/edges\/tcp\/edgtcp_\w+$/)]);
    expect((await workspace.edgewise('plan test.yaml --detailed-exitcode')).exitCode).toBe(0);
  });

  it.each([
    ['other', 0],
    ['yes', 130],
    [undefined, 5],
  ])('asks for the former name: %s ends with %d', async (answer, exitCode) => {
    const workspace = await createTakeOver();
    const answers = answer === undefined ? [] : [answer];
    const applied = await workspace.edgewise('apply test.yaml', { answers });
    expect(applied.exitCode, applied.stdout + applied.stderr).toBe(exitCode);
    if (answer !== undefined)
      expect(applied.stderr).toContain('It takes over resources of other. Only "other" is accepted: ');
    expect(listWrites(workspace)).toHaveLength(exitCode === 0 ? 1 : 0);
    if (exitCode === 5) expect(applied.stderr).toContain('--allow-take-over other');
  });

  it('makes no guess about a token: a stack that adopted a credential never had its token', async () => {
    const id = `cr_${'a'.repeat(27)}`;
    const adopting = `${toCredential('agent')}lifecycle: { adopt: ${id} }\n`;
    const renamed = `${toCredential('office')}lifecycle: { renamed_from: agent }\n`;
    const { edgewise, write } = await createWorkspace(
      {
        'live/other/edgewise.yaml': `${OTHER}${adopting}`,
        'live/test/edgewise.yaml': `${RENAMED}${toCredential('agent')}`,
      },
      { seed: { resources: { Credential: [{ id }] } } },
    );
    expect((await edgewise('apply live/other --yes')).stdout).toContain('its token is unknown');
    await write({ 'live/other/edgewise.yaml': `${OTHER}${renamed}` });
    for (const line of ['plan live/test', 'plan live/other']) {
      const { stdout } = await edgewise(line);
      expect(stdout).toContain('its token stays where it is: apply does not touch its file');
      expect(stdout).not.toMatch(/token.*delivered/);
    }
  });

  it('replaces a credential whose token was not delivered, or is refused without a token sink', async () => {
    const metadata = JSON.stringify({ edgewise: { stack: 'other', name: 'agent', fields: {} } });
    const { edgewise } = await createWorkspace(
      { 'test.yaml': `${RENAMED}${toCredential('agent')}` },
      { seed: { resources: { Credential: [{ id: `cr_${'a'.repeat(27)}`, metadata }] } } },
    );
    const refused = await edgewise(`apply test.yaml ${ALLOWED} --yes`);
    expect(refused).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('token-sink-missing') });
    expect(await edgewise('apply test.yaml --yes --token-directory tokens')).toMatchObject({ exitCode: 5 });
    const applied = await edgewise(`apply test.yaml ${ALLOWED} --yes --token-directory tokens`);
    expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 to replace') });
    expect((await edgewise('plan test.yaml --token-directory tokens --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is part of an approved plan, which becomes stale if another stack takes the resource', async () => {
    const third = RENAMED.replace('name: test', 'name: third');
    const workspace = await createTakeOver();
    const { edgewise, recorder, write } = workspace;
    await edgewise(`plan test.yaml ${ALLOWED} -o plan.json`);
    await write({ 'test.yaml': `${third}${EDGE}` });
    expect(await edgewise(`apply test.yaml ${ALLOWED} --yes`)).toMatchObject({ exitCode: 0 });
    await write({ 'test.yaml': `${RENAMED}${EDGE}` });
    recorder.take();
    const stale = await edgewise(`apply test.yaml --approved plan.json ${ALLOWED} --yes`);
    expect(stale).toMatchObject({ exitCode: 6 });
    expect(stale.stdout).toContain('it changed at the service\n    approved: take over');
    expect(stale.stdout).toContain('now: claimed-elsewhere: TCPEdge/a: ');
    expect(recorder.take().every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is refused while a stack of the repository describes the resource, or takes it too', async () => {
    const workspace = await createWorkspace({ 'live/a/edgewise.yaml': `${OTHER}${EDGE}` });
    await workspace.edgewise('apply live/a --yes');
    const heir = STACK.replace('name: test', 'name: heir\n  renamed_from: other');
    await workspace.write({ 'live/b/edgewise.yaml': `${RENAMED}${EDGE}` });
    workspace.recorder.take();
    const described = await workspace.edgewise(`apply live/b ${ALLOWED} --yes`);
    expect(described.stdout).toContain('a document of other in live/a still describes it');
    expect(described.exitCode).toBe(3);
    await workspace.write({ 'live/a/edgewise.yaml': OTHER, 'live/c/edgewise.yaml': `${heir}${EDGE}` });
    const twice = await workspace.edgewise(`apply live/b ${ALLOWED} --yes`);
    expect(twice.stdout).toContain('a document of heir in live/c takes it over, too');
    expect(twice.exitCode).toBe(3);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('is what the old stack keeps a resource for, if it is applied first and alone', async () => {
    const workspace = await createWorkspace({ 'live/a/edgewise.yaml': `${OTHER}${EDGE}${toEdge('b', 20002)}` });
    await workspace.edgewise('apply live/a --yes');
    const id = workspace.server.snapshot().resources['TCPEdge']?.[0]?.id;
    await workspace.write({
      'live/a/edgewise.yaml': `${OTHER}${toEdge('b', 20002)}`,
      'live/b/edgewise.yaml': `${RENAMED}${EDGE}`,
    });
    workspace.recorder.take();
    const old = await workspace.edgewise('apply live/a --yes');
    expect(old.stdout).toContain('kept-for-hand-over');
    expect(listWrites(workspace)).toEqual([]);
    expect((await workspace.edgewise(`apply -R live ${ALLOWED} --yes`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual([`PATCH /edges/tcp/${id}`]);
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('takes nothing for a command that deletes or releases', async () => {
    const workspace = await createTakeOver();
    expect((await workspace.edgewise('destroy test.yaml --yes')).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual([]);
  });
});

describe('--take-over', () => {
  it('ends with what took its place', async () => {
    const { edgewise } = await createWorkspace({ 'test.yaml': STACK });
    for (const command of ['plan', 'apply']) {
      const { exitCode, stderr } = await edgewise(`${command} test.yaml --take-over other`);
      expect(exitCode).toBe(3);
      expect(stderr).toContain('metadata: { renamed_from: OLD }');
      expect(stderr).toContain('--allow-take-over OLD');
    }
  });
});

describe('what would be created beside its equal of another stack', () => {
  const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_a: 1 } });

  it('is named, with the line that takes it over, and is a danger', async () => {
    const { edgewise, write } = await createWorkspace({ 'm.yaml': `${OTHER}${toCredential('agent')}${POOL}` });
    await edgewise('apply m.yaml --yes --token-directory tokens');
    await write({ 'm.yaml': `${STACK}${toCredential('agent')}${POOL}` });
    const { stdout } = await edgewise('plan m.yaml --token-directory tokens');
    expect(stdout).toMatch(
      /warning\[predecessor-unclear\]: 2 resources would be created beside equal ones of the stack other: Credential\/agent \(cr_\w+\), WeightedBackend\/pool \(bkdwd_\w+\)/,
    );
    expect(stdout).toContain('\n        renamed_from: other\n');
    expect(stdout.match(/! ownership: will be created beside its equal of the stack other: \w+ stays/g)).toHaveLength(
      2,
    );
    await write({ 'm.yaml': `${RENAMED}${toCredential('agent')}${POOL}` });
    const line = await edgewise(`plan m.yaml --token-directory tokens ${ALLOWED}`);
    expect(line.stdout).toContain('2 to take over, 0 to adopt, 0 to create');
  });

  it.each([
    ['a stack that does not exist', { stack: 'othre', name: 'pool' }, 'the stack `other`'],
    ['a name that the stack does not have', { stack: 'other', name: 'poool' }, '`pool`'],
  ])('is asked for if renamed_from names %s, and another one is spelled alike', async (_, renamed_from, meant) => {
    const { edgewise, write } = await createWorkspace({ 'm.yaml': `${OTHER}${POOL}` });
    await edgewise('apply m.yaml --yes');
    const lake = toManifest('WeightedBackend', 'lake', { backends: { bkdhr_a: 2 } }, { lifecycle: { renamed_from } });
    await write({ 'm.yaml': `${STACK}${lake}` });
    expect((await edgewise('plan m.yaml')).stdout).toContain(`Did you mean ${meant}?`);
  });

  it('is not meant if a field or the name differs', async () => {
    const { edgewise, write } = await createWorkspace({ 'm.yaml': `${OTHER}${POOL}` });
    await edgewise('apply m.yaml --yes');
    for (const text of [
      POOL.replace('bkdhr_a: 1', 'bkdhr_a: 2').replace('"bkdhr_a":1', '"bkdhr_a":2'),
      POOL.replace('pool', 'lake'),
    ]) {
      expect(text).not.toBe(POOL);
      await write({ 'm.yaml': `${STACK}${text}` });
      expect((await edgewise('plan m.yaml')).stdout).not.toContain('predecessor-unclear');
    }
  });
});
