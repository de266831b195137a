import { describe, expect, it } from 'vitest';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, toEdge, toManifest, toTranscript } from '../cli/workspace.ts';
import { toStack } from './tree.ts';

const TAKEN = `${toEdge('shop', 20_001)}lifecycle: { renamed_from: { stack: a, name: x } }\n`;

describe('a hand-over in git', () => {
  it('moves the mark, and shows where it comes from; the old stack deletes nothing', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}` });
    await expect(toTranscript(await edgewise('apply -R live --yes'))).toMatchFileSnapshot('goldens/hand-over.txt');
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
    expect((await edgewise('drift live/a')).exitCode).toBe(0);
  });

  it('can be saved as plans, and applied from them', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}` });
    await edgewise('plan -R live -o plans');
    for (const name of ['a', 'b']) expect((await edgewise(`apply plans/${name}.json --yes`)).exitCode).toBe(0);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is refused while the old stack still describes the resource, here or there', async () => {
    const { edgewise, recorder } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}`,
      'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}`,
      'other/edgewise.yaml': `${toStack('c', { released: ['TCPEdge/y', 'TCPEdge/z'] })}${toEdge('y', 20_009)}`,
    });
    await edgewise('apply live/a --yes');
    recorder.take();
    const { stdout, exitCode } = await edgewise('apply -R live --yes');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('b takes over TCPEdge/x of the stack a, and a document in live/a still describes it.');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    const validated = await edgewise('validate other');
    expect(validated.stdout).toContain('spec.released names TCPEdge/y, which a document still describes');
    expect(validated.stdout).not.toContain('TCPEdge/z');
  });

  it('takes the one of several that its own stack would keep: the credential whose token is in use', async () => {
    const credential = toManifest('Credential', 'agent', {});
    const taken = toManifest('Credential', 'agent', {}, { lifecycle: { renamed_from: { stack: 'a', name: 'agent' } } });
    const [a, b] = ['a', 'b'].map((name) => toStack(name, { tokens: { default: { directory: 'tokens' } } }));
    let elapsedMs = 0;
    const now = (): Date => new Date(NOW.getTime() + elapsedMs);
    const { edgewise, write, server } = await createWorkspace(
      { 'live/a/edgewise.yaml': `${a}${credential}`, 'live/b/edgewise.yaml': String(b) },
      { now },
    );
    await edgewise('apply live/a --yes', { now });
    elapsedMs = 60_000;
    // The rotation breaks off before it deletes the old one.
    const transport = async (request: Request): Promise<Response> =>
      request.method === 'DELETE' ? new Response('{}', { status: 403 }) : server.handle(request);
    await edgewise('apply live/a --yes --rotate Credential/agent', { now, transport });
    const [old, inUse] = (server.snapshot().resources?.['Credential'] ?? []).map(({ id }) => id);
    expect((await edgewise('plan live/a', { now })).stdout).toMatch(new RegExp(`^- .*${old}`, 'm'));
    await write({ 'live/a/edgewise.yaml': String(a), 'live/b/edgewise.yaml': `${b}${taken}` });
    const { stdout } = await edgewise('plan -R live', { now });
    expect(stdout).toMatch(new RegExp(`^» Credential/agent .*${inUse}`, 'm'));
    expect(stdout).toContain('1 to adopt, 0 to create');
    expect(stdout).not.toContain(String(old));
  });

  it('does not take protection away', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}lifecycle: { protect: true }\n`,
      'live/b/edgewise.yaml': toStack('b'),
    });
    await edgewise('apply live/a --yes');
    await write({ 'live/a/edgewise.yaml': toStack('a'), 'live/b/edgewise.yaml': `${toStack('b')}${TAKEN}` });
    const { stdout, exitCode } = await edgewise('apply live/b --yes');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('is protected by the stack a, and would lose its protection');
  });

  it('leaves what is released alone, in a destroy too', async () => {
    const { edgewise, write, recorder } = await createWorkspace({
      'a/edgewise.yaml': `${toStack('a')}${toEdge('x', 20_001)}${toEdge('y', 20_002)}`,
    });
    await edgewise('apply a --yes');
    await write({ 'a/edgewise.yaml': `${toStack('a', { released: ['TCPEdge/x'] })}${toEdge('y', 20_002)}` });
    recorder.take();
    expect((await edgewise('plan a --detailed-exitcode')).exitCode).toBe(0);
    expect((await edgewise('destroy a --yes')).exitCode).toBe(0);
    expect(recorder.take().filter(({ method }) => method === 'DELETE')).toHaveLength(1);
    expect((await edgewise('release TCPEdge/x a --yes')).exitCode).toBe(0);
  });
});
