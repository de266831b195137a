import { expect, it } from 'vitest';
import { createNotices } from '../../src/cli/connection/notices.ts';
import { createFakeStream } from './fake-context.ts';

const SETTINGS = { rateLimit: '120/60s', baseUrl: 'https://api.test' };
const neverResolve = () => () => undefined;

async function collectNotices(env: Readonly<Record<string, string>>, causes: readonly string[]): Promise<string> {
  const written: string[] = [];
  const stderr = createFakeStream((text) => void written.push(text));
  const { onRetry } = createNotices({ env, stderr, now: () => new Date(0), after: neverResolve }, SETTINGS);
  for (const cause of causes) onRetry({ method: 'GET', path: '/edges/tcp', attempt: 1, delayMs: 500, cause });
  return written.join('');
}

it('shows a person each cause once, and lets none forge a line', async () => {
  const refused = (path: string) => `GET https://api.test${path}: the connection was refused`;
  expect(
    await collectNotices({}, [refused('/a'), refused('/b'), 'HTTP 429', 'HTTP 429', 'HTTP 500\u001b[2J\nok']),
  ).toBe(
    [
      'Reading continues after a pause: the connection was refused.',
      'Reading continues after a pause: HTTP 429.',
      'Reading continues after a pause: HTTP 500\\u001b[2J\\nok.',
      '',
    ].join('\n'),
  );
});

it('shows programs every notice on request', async () => {
  const lines = (await collectNotices({ EDGEWISE_LOG_LEVEL: 'info' }, ['HTTP 429', 'HTTP 429'])).split('\n');
  expect(lines.filter((line) => line.startsWith('{"level":30'))).toHaveLength(2);
});

it('shows a wait for the rate limit once, however many requests wait', async () => {
  const written: string[] = [];
  const stderr = createFakeStream((text) => void written.push(text));
  let time = 0;
  const { onWait } = createNotices({ env: {}, stderr, now: () => new Date(time), after: neverResolve }, SETTINGS);
  for (const waitMs of [400, 33_500, 33_500]) onWait({ waitMs, reason: 'budget' });
  onWait({ waitMs: 9_000, reason: 'pause' });
  time = 33_500;
  onWait({ waitMs: 60_000, reason: 'budget' });
  expect(written).toEqual([
    'Waiting 34 s: edgewise sends at most 120/60s.\n',
    'Waiting 60 s: edgewise sends at most 120/60s.\n',
  ]);
});
