import { describe, expect, it } from 'vitest';
import { BROKEN_PROMISES } from '../promises/breaks.ts';
import { runBrokenTests } from './run-broken-tests.ts';

/** The text of a title up to its first placeholder, as a pattern. */
function toPattern(title: string): string {
  const [start = ''] = title.split(/[%$]/);
  return start.trim().replace(/[^\w\s]/g, '\\$&');
}

describe('a broken promise', () => {
  it.each(Object.entries(BROKEN_PROMISES))(
    'fails the test that holds it: %s',
    { timeout: 600_000 },
    async (name, { test, title }) => {
      const file = test.startsWith('scenarios/') ? 'test/scenarios' : `test/${test}.test.ts`;
      const projects = test.startsWith('end-to-end/') ? ['journeys'] : ['fast', 'attacks', 'laws'];
      const words = ['-t', toPattern(title), '--testTimeout=60000'];
      const output = await runBrokenTests(name, projects, [file], words);
      expect(output).toMatch(/ Tests {2}\d+ failed/);
    },
  );
});
