import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import config from '../test/vitest.config.ts';

/** The tests in a checkout with switches. A mutant that makes a test hang shall not hold up the others. */
export default mergeConfig(config, {
  test: {
    runner: fileURLToPath(new URL('switching-runner.ts', import.meta.url)),
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
