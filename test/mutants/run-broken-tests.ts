import { execFile } from 'node:child_process';
import { MUTANT_VARIABLE } from '../broken-source.ts';

/**
 * Runs test files of some projects on a broken edgewise, up to the first failure, and returns the output. `files`: paths below the root of the
 * checkout.
 */
export function runBrokenTests(
  mutant: string,
  projects: readonly string[],
  files: readonly string[],
  more: readonly string[] = [],
): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1', [MUTANT_VARIABLE]: mutant };
  const chosen = projects.flatMap((project) => ['--project', project]);
  const words = [
    'run',
    '--config',
    'test/vitest.config.ts',
    ...chosen,
    ...files,
    '--maxWorkers=1',
    '--bail=1',
    ...more,
  ];
  return new Promise((done) => {
    execFile(process.execPath, ['node_modules/vitest/vitest.mjs', ...words], { env, encoding: 'utf8' }, (_, stdout) =>
      done(stdout),
    );
  });
}
