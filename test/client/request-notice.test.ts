import { expect, it } from 'vitest';
import type { AttemptNotice } from '../../src/client/request-notice.ts';
import { NetworkError } from '../../src/model/errors.ts';
import { API_KEY, createFakeService } from './fake-service.ts';

const HEADERS = {
  'content-type': 'application/json',
  'retry-after': '1',
  'set-cookie': 'session=hunter2',
  'www-authenticate': 'Bearer hunter2',
  'x-forwarded-authorization': 'hunter2',
  'acme-request-id': `req_1 for ${API_KEY}`,
  'ratelimit-remaining': '3',
};

async function listAttempts(answers: Parameters<typeof createFakeService>[0]): Promise<readonly AttemptNotice[]> {
  const notices: AttemptNotice[] = [];
  let time = 0;
  const { client } = createFakeService(answers, {
    now: () => {
      time += 7;
      return time;
    },
    onRequest: (notice) => notices.push(notice),
  });
  await client.get('/x?a=1').catch(() => undefined);
  return notices;
}

it('reports each attempt: its result, its duration, and its operation', async () => {
  const notices = await listAttempts({
    'GET /x?a=1': [new Response('busy', { status: 429, headers: HEADERS }), { a: 1 }],
  });
  const start = { method: 'GET', path: '/x?a=1' };
  expect(notices.map(({ event, attempt }) => [event, attempt])).toEqual([
    ['sent', 1],
    ['answered', 1],
    ['sent', 2],
    ['answered', 2],
  ]);
  expect(notices[1]).toEqual({
    ...start,
    event: 'answered',
    attempt: 1,
    status: 429,
    ms: expect.any(Number),
    operationId: 'req_1 for [key]',
    bytes: 4,
    headers: {
      'content-type': 'application/json',
      'retry-after': '1',
      'acme-request-id': 'req_1 for [key]',
      'ratelimit-remaining': '3',
    },
  });
  expect(notices[3]).toMatchObject({ ...start, status: 200, attempt: 2, bytes: 7 });
});

it('reports why there was no response, without the key', async () => {
  const echo = new NetworkError(`proxy refused\nBearer ${API_KEY}`);
  const [, failed] = await listAttempts({ 'GET /x?a=1': [echo, echo, echo, echo] });
  expect(failed).toMatchObject({
    event: 'failed',
    attempt: 1,
    cause: 'proxy refused Bearer [key]',
    ms: expect.any(Number),
  });
});

it('shows no header that may contain a secret', async () => {
  const notices = await listAttempts({ 'GET /x?a=1': [new Response('{}', { headers: HEADERS })] });
  const shown = JSON.stringify(notices);
  expect(shown).not.toContain(API_KEY);
  expect(shown).not.toContain('hunter2');
  expect(shown).not.toContain('authorization');
});

it('takes the operation of a failure from its body if no header names it', async () => {
  const body = JSON.stringify({ msg: 'no', details: { operation_id: 'op_7' } });
  const [, answered] = await listAttempts({ 'GET /x?a=1': [new Response(body, { status: 404 })] });
  expect(answered).toMatchObject({ status: 404, operationId: 'op_7' });
});
