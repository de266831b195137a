import { expect, it } from 'vitest';
import { openStack } from '../../src/index.ts';
import { InvariantError } from '../../src/model/errors.ts';
import { resolveSettings } from '../../src/stack/settings.ts';
import { createStack, type StackParts } from '../../src/stack/stack.ts';
import { useThisProcess } from '../../src/stack/this-process.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';

it('a stack sends nothing but GETs outside of an apply, whatever reads', async () => {
  const { recorder } = await createWorkspace();
  const env = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };
  const manifests = [{ file: 'made.yaml', text: `${STACK}${toEdge('a', 20001)}` }];
  const { desired: state } = await openStack({ manifests, env });
  // What reads is handed a client that would write.
  const watch: StackParts['watch'] = (client) => ({
    ...client,
    list: async () => [(await client.send('POST', '/edges/tcp', {})) ?? {}],
  });
  const settings = resolveSettings({}, env, {});
  const parts = {
    state,
    diagnostics: [],
    settings,
    tokens: state.stack.tokens,
    version: '1.0.0',
    given: { transport: recorder.transport },
  };
  const stack = createStack({ ...parts, watch }, { ...useThisProcess(), env });
  for (const read of [stack.plan, stack.drift, stack.get, stack.export])
    await expect(read()).rejects.toThrow(InvariantError);
  expect(recorder.take()).toEqual([]);
});
