import { defineConfig } from 'vitest/config';

/** Where to leave the results as JSON, for a program that counts them. */
const results = process.env['EDGEWISE_TEST_RESULTS'];

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Generous: what hangs is to fail, and what is slow on a busy machine is not.
    testTimeout: 30_000,
    // As many as there are processors: what vitest itself does beside them is little.
    maxWorkers: '100%',
    hookTimeout: 60_000,
    reporters: results === undefined ? ['default'] : ['default', ['json', { outputFile: results }]],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90, branches: 90 },
    },
  },
});
