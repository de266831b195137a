import { expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { InvariantError } from '../../src/model/errors.ts';
import { createAccount } from '../../src/stack/account.ts';
import { resolveServiceSettings } from '../../src/stack/settings.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';
import { createStackOfText, ENV, HOST } from './create-stack.ts';

it('sends nothing but GETs outside of an apply, for every read', async () => {
  const { recorder } = await createWorkspace();
  let kept: Client | undefined;
  const attempts: Promise<unknown>[] = [];
  // Each read comes with an attempt to write by a client that was kept from an apply.
  const onRead = () => {
    const attempt = kept?.send('POST', '/edges/tcp', {});
    attempt?.catch(() => undefined);
    attempts.push(Promise.resolve(attempt));
  };
  const text = `${STACK}${toEdge('a', 20001)}`;
  const { stack, account } = await createStackOfText(text, { transport: recorder.transport, notices: { onRead } });
  await account.write(async (client) => {
    kept = client;
  });
  for (const read of [stack.plan, stack.drift, stack.get, stack.export, async () => stack.accept({ all: true })]) {
    attempts.length = 0;
    await read();
    expect(attempts.length).toBeGreaterThan(0);
    for (const attempt of attempts) await expect(attempt).rejects.toThrow(InvariantError);
    expect(new Set(recorder.take().map(({ method }) => method))).toEqual(new Set(['GET']));
  }
});

it('gets no function that writes for a read, from a service or from the embedded server', async () => {
  const { recorder } = await createWorkspace();
  for (const [baseUrl, transport] of [
    [BASE_URL, recorder.transport],
    ['embedded:', undefined],
  ] as const) {
    const account = createAccount(
      { settings: resolveServiceSettings({ options: { baseUrl }, env: ENV }), given: { transport } },
      HOST,
    );
    const names = Object.keys(await account.open());
    expect(names.sort()).toEqual(['clockSkew', 'get', 'read']);
    await account.close();
  }
});
