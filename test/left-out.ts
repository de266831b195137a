import { IS_FULL } from './tries.ts';

/** Says, once all tests are over, what was left out. */
export function teardown(): void {
  if (IS_FULL) return;
  process.stdout.write(
    '\nLeft out: long journeys, and three quarters of what is random. EDGEWISE_FULL=1, which .ci/run sets, tries everything.\n',
  );
}
