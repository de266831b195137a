import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { ApiError } from '../../src/model/errors.ts';
import { rehearsePlan } from '../../src/rehearse/rehearse.ts';
import { type AccountInput, createAccount } from '../../src/stack/account.ts';
import { createProcessHost } from '../../src/stack/process-host.ts';
import { resolveServiceSettings } from '../../src/stack/settings.ts';
import { BASE_URL } from '../cli/fake-context.ts';
import { createRecorder } from '../cli/recorder.ts';

const env = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL };
const host = { ...createProcessHost(), rehearse: rehearsePlan, sleep: async () => undefined, env };
const EDGES = { kinds: [getKind('TCPEdge')], attachments: [] };
const PAGE = { tcp_edges: [{ id: 'edgtcp_1', metadata: '' }], next_page_uri: null };

/** An account at a service that gives these answers, the last one again and again. */
function openAccount(answers: readonly (() => Response)[], options: Pick<AccountInput, 'isShared'> = {}) {
  let count = 0;
  const recorder = createRecorder(async () => {
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    return answer?.() ?? Response.error();
  });
  const settings = resolveServiceSettings({ env });
  const account = createAccount({ settings, given: { transport: recorder.transport }, ...options }, host);
  const read = async () => (await account.open()).read(EDGES);
  return { account, read, countSent: () => recorder.take().length };
}

const LIST = () => Response.json(PAGE);
const BUSY = () => new Response('', { status: 503, headers: { 'retry-after': '0' } });

describe('an account that plans share', () => {
  it('reads a list once, and each plan counts its requests, with retries', async () => {
    const { account, read, countSent } = openAccount([BUSY, LIST], { isShared: true });
    const reads = [await read(), await read()];
    expect(reads.map(({ requests }) => requests)).toEqual([2, 2]);
    expect(countSent()).toBe(2);
    expect(account.countReads()).toBe(2);
  });

  it('reads a list anew once it was told to forget, and after a write', async () => {
    const { account, read, countSent } = openAccount([LIST], { isShared: true });
    await read();
    account.forget();
    await read();
    expect(countSent()).toBe(2);
    await account.write(async () => undefined);
    await read();
    await read();
    expect(countSent()).toBe(1);
    expect(account.countReads()).toBe(3);
  });

  it('reads a list anew after a write that failed', async () => {
    const { account, read, countSent } = openAccount([LIST], { isShared: true });
    await read();
    await expect(account.write(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await read();
    expect(countSent()).toBe(2);
  });

  it('remembers nothing for those who write', async () => {
    const { account, read, countSent } = openAccount([LIST], { isShared: true });
    await read();
    await account.write(async (client) => {
      await client.list(getKind('TCPEdge'));
      await client.list(getKind('TCPEdge'));
    });
    expect(countSent()).toBe(3);
    expect(account.countReads()).toBe(1);
  });

  it('reads a list again that could not be read, unless the key was refused', async () => {
    const missing = () => Response.json({ error_code: 'ERR', msg: 'no' }, { status: 404 });
    const failing = openAccount([missing, LIST], { isShared: true });
    await expect(failing.read()).rejects.toThrow(ApiError);
    await failing.read();
    expect(failing.countSent()).toBe(2);
    const refused = openAccount([() => Response.json({ msg: 'no' }, { status: 401 })], { isShared: true });
    await expect(refused.read()).rejects.toThrow(ApiError);
    await expect(refused.read()).rejects.toThrow(ApiError);
    expect(refused.countSent()).toBe(1);
  });
});

it('an account of one stack reads for each plan, also for two at the same time', async () => {
  const { read, countSent } = openAccount([LIST]);
  const reads = await Promise.all([read(), read()]);
  expect(reads.map(({ requests }) => requests)).toEqual([1, 1]);
  await read();
  expect(countSent()).toBe(3);
});
