import { expect, it } from 'vitest';
import { openStack } from '../../src/index.ts';
import { InvariantError } from '../../src/model/errors.ts';
import { rehearsePlan } from '../../src/rehearse/rehearse.ts';
import { createProcessHost } from '../../src/stack/process-host.ts';
import { resolveServiceSettings } from '../../src/stack/settings.ts';
import { type AccountInput, createAccount, createStack } from '../../src/stack/stack.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';

const env = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };
const host = { ...createProcessHost(), rehearse: rehearsePlan, env };

it('sends nothing but GETs outside of an apply, for every read', async () => {
  const { recorder } = await createWorkspace();
  const manifests = [{ file: 'made.yaml', text: `${STACK}${toEdge('a', 20001)}` }];
  const { desired: state } = await openStack({ manifests, env });
  // A read gets a client that could write.
  const watch: AccountInput['watch'] = (client) => ({
    ...client,
    list: async () => [(await client.send('POST', '/edges/tcp', {})) ?? {}],
  });
  const settings = resolveServiceSettings({ env });
  const account = createAccount({ settings, given: { transport: recorder.transport }, watch }, host);
  const parts = {
    state,
    diagnostics: [],
    validateEdited: () => ({ state: undefined, diagnostics: [] }),
    tokens: state.stack.tokens,
    version: '1.0.0',
  };
  const stack = createStack(parts, account, host);
  for (const read of [stack.plan, stack.drift, stack.get, stack.export, async () => stack.accept({ all: true })])
    await expect(read()).rejects.toThrow(InvariantError);
  expect(recorder.take()).toEqual([]);
});

it('gets no function that writes for a read, from a service or from the embedded server', async () => {
  const { recorder } = await createWorkspace();
  for (const [baseUrl, transport] of [
    [BASE_URL, recorder.transport],
    ['embedded:', undefined],
  ] as const) {
    const account = createAccount(
      { settings: resolveServiceSettings({ options: { baseUrl }, env }), given: { transport } },
      host,
    );
    const names = Object.keys(await account.open());
    expect(names.sort()).toEqual([
      ...['clockSkew', 'get', 'limit', 'list', 'readIds', 'readModule', 'requestCount', 'serviceDate', 'shown'],
    ]);
    await account.close();
  }
});
