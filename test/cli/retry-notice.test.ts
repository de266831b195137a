import { expect, it } from 'vitest';
import { createRetryNotice } from '../../src/cli/retry-notice.ts';

function tell(env: Readonly<Record<string, string>>, causes: readonly string[]): string {
  const written: string[] = [];
  const stderr = { write: (text: string) => void written.push(text), isTerminal: false, columns: () => 0 };
  const onRetry = createRetryNotice({ env, stderr });
  for (const cause of causes) onRetry({ method: 'GET', path: '/edges/tcp', attempt: 1, delayMs: 500, cause });
  return written.join('');
}

it('tells a person of each cause once, and forges no line', () => {
  const refused = (path: string) => `GET https://api.test${path}: the connection was refused`;
  expect(tell({}, [refused('/a'), refused('/b'), 'HTTP 429', 'HTTP 429', 'HTTP 500\u001b[2J\nok'])).toBe(
    [
      'Reading goes on after a pause: the connection was refused.',
      'Reading goes on after a pause: HTTP 429.',
      'Reading goes on after a pause: HTTP 500\\u001b[2J\\nok.',
      '',
    ].join('\n'),
  );
});

it('tells programs of each one, when they ask for that', () => {
  const lines = tell({ EDGEWISE_LOG_LEVEL: 'info' }, ['HTTP 429', 'HTTP 429']).split('\n');
  expect(lines.filter((line) => line.startsWith('{"level":30'))).toHaveLength(2);
});
