import { expect, it } from 'vitest';
import { openStack } from '../../src/index.ts';
import { InvariantError } from '../../src/model/errors.ts';
import { type AccountParts, createAccount } from '../../src/stack/account.ts';
import { resolveSettings } from '../../src/stack/settings.ts';
import { createStack } from '../../src/stack/stack.ts';
import { useThisProcess } from '../../src/stack/this-process.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';

const env = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };
const surroundings = { ...useThisProcess(), env };

it('a stack sends nothing but GETs outside of an apply, whatever reads', async () => {
  const { recorder } = await createWorkspace();
  const manifests = [{ file: 'made.yaml', text: `${STACK}${toEdge('a', 20001)}` }];
  const { desired: state } = await openStack({ manifests, env });
  // What reads is handed a client that would write.
  const watch: AccountParts['watch'] = (client) => ({
    ...client,
    list: async () => [(await client.send('POST', '/edges/tcp', {})) ?? {}],
  });
  const settings = resolveSettings({}, env, {});
  const account = createAccount({ settings, given: { transport: recorder.transport }, watch }, surroundings);
  const parts = { state, diagnostics: [], tokens: state.stack.tokens, version: '1.0.0' };
  const stack = createStack(parts, account, surroundings);
  for (const read of [stack.plan, stack.drift, stack.get, stack.export])
    await expect(read()).rejects.toThrow(InvariantError);
  expect(recorder.take()).toEqual([]);
});

it('what only reads gets no function that writes, from a service as from the embedded server', async () => {
  const { recorder } = await createWorkspace();
  for (const [baseUrl, transport] of [
    [BASE_URL, recorder.transport],
    ['embedded:', undefined],
  ] as const) {
    const account = createAccount(
      { settings: resolveSettings({ baseUrl }, env, {}), given: { transport } },
      surroundings,
    );
    const names = Object.keys(await account.open());
    expect(names.sort()).toEqual(['excerpt', 'get', 'limit', 'list', 'readModule', 'requestCount']);
    await account.close();
  }
});
