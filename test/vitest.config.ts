import { defineConfig } from 'vitest/config';

/** Where to leave the results as JSON, for a program that counts them. */
const results = process.env['EDGEWISE_TEST_RESULTS'];

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    reporters: results === undefined ? ['default'] : ['default', ['json', { outputFile: results }]],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90, branches: 90 },
    },
  },
});
