import { openStack } from '../../src/index.ts';
import type { Transport } from '../../src/model/transport.ts';
import { rehearsePlan } from '../../src/rehearse/rehearse.ts';
import { type Account, type AccountInput, createAccount } from '../../src/stack/account.ts';
import type { Host } from '../../src/stack/host.ts';
import { createProcessHost } from '../../src/stack/process-host.ts';
import { resolveServiceSettings } from '../../src/stack/settings.ts';
import { createStack, type RunnableStack } from '../../src/stack/stack.ts';
import { BASE_URL } from '../cli/fake-context.ts';

export const ENV = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };
export const HOST: Host = { ...createProcessHost(), rehearse: rehearsePlan, env: ENV };

interface StackParts {
  readonly transport: Transport;
  readonly notices?: AccountInput['notices'];
  readonly host?: Host;
}

/** Creates a stack of one manifest file from its parts, and the account that it uses. */
export async function createStackOfText(
  text: string,
  { transport, notices = {}, host = HOST }: StackParts,
): Promise<{ readonly stack: RunnableStack; readonly account: Account }> {
  const { desired: state } = await openStack({ manifests: [{ file: 'made.yaml', text }], env: ENV });
  const settings = resolveServiceSettings({ env: ENV });
  const account = createAccount({ settings, given: { transport }, notices }, host);
  const parts = {
    state,
    settings,
    diagnostics: [],
    validateEdited: () => ({ state: undefined, diagnostics: [] }),
    tokens: state.stack.tokens,
    version: '1.0.0',
  };
  return { stack: createStack(parts, account, host), account };
}
