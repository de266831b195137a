import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, STACK, toCredential, toEdge } from '../cli/workspace.ts';

/** A service whose responses have other ids than its store. */
function withRenamedIds(transport: Transport, pattern: RegExp, id: string): Transport {
  return async (request) => {
    const response = await transport(request);
    const text = (await response.text()).replace(pattern, JSON.stringify(id));
    return new Response(text === '' ? null : text, response);
  };
}

const ILL_FORMED = [
  ['a command of a shell', 'cr_x;touch f'],
  ['a command in a substitution', 'cr_$(touch f)'],
  ['an option', '-rf'],
  ['a path to another resource', '../edges/tcp/edgtcp_1'],
  ['a path out of a folder', 'cr_/../../f'],
  ['a second line', 'cr_1\nf'],
  ['an escape sequence', 'cr_\u001b[2Jf'],
  ['a very long text', `cr_${'1'.repeat(5000)}`],
] as const;

const CREDENTIAL_ID = /"cr_[A-Za-z0-9]{27}"/g;

describe('an id that the service chose', () => {
  it.each(ILL_FORMED)('reaches no command of a token sink: %s', async (_, id) => {
    const stack = `${STACK}spec: { tokens: { default: { command: [/bin/sh, -c, "/bin/cat > token; echo {id} $EDGEWISE_ID > id"] } } }\n`;
    const { edgewise, folder, recorder } = await createWorkspace({
      'edgewise.yaml': stack,
      'a.yaml': toCredential('a'),
    });
    const transport = withRenamedIds(recorder.transport, CREDENTIAL_ID, id);
    const { exitCode, stdout, stderr } = await edgewise('apply edgewise.yaml a.yaml --yes', { transport });
    expect(exitCode, stdout + stderr).toBe(1);
    expect(stdout + stderr).toContain('the service did not return its id, or returned an invalid one');
    // It is unknown whose the token is: it is rescued, and no command was run.
    expect(stdout + stderr).toContain('the token in the response is in ');
    expect((await readdir(folder)).sort()).toEqual(['a.yaml', 'edgewise.yaml']);
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });

  it.each(ILL_FORMED)('is an error of its list, and is not used in a path: %s', async (_, id) => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': STACK, 'a.yaml': toEdge('a', 20001) });
    await edgewise('apply edgewise.yaml a.yaml --yes');
    recorder.take();
    const transport = withRenamedIds(recorder.transport, /"edgtcp_[A-Za-z0-9]{27}"/g, id);
    for (const command of ['plan edgewise.yaml a.yaml', 'destroy edgewise.yaml --yes', 'export --owner test -o live']) {
      const { exitCode, stderr } = await edgewise(command, { transport });
      expect({ command, exitCode }, stderr).toEqual({ command, exitCode: 1 });
      expect(stderr).toContain('tcp_edges[0] has an invalid id. An id is at most 120 letters, digits, `_` and `-`');
    }
    const after = recorder.take();
    expect(after.every(({ method }) => method === 'GET')).toBe(true);
    expect(after.filter(({ path }) => !/^\/[a-z_/]+\?limit=100$/.test(path))).toEqual([]);
  });
});
