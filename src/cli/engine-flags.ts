/** What the JavaScript engine is told before it reads large manifests, as far as this version of Node has it. */
export function listEngineFlags(nodeVersion: string): readonly string[] {
  const major = Number.parseInt(nodeVersion, 10);
  return major >= 24 && major <= 26 ? [...SMALL_HEAP, LATE_COMPILER] : SMALL_HEAP;
}

/**
 * The space for new values does not grow, and all others are collected when they take a third more than the last time, instead of
 * up to four times as much: what is left of values would take more room than all that is kept. That takes a twentieth of the CPU time.
 */
const SMALL_HEAP = ['--semi-space-growth-factor=1', '--heap-growing-percent=30'] as const;

/**
 * The last compiler takes a fifth of the CPU time of a run of some seconds, and saves none of it: what one compiler has made fast already has to be used
 * more often before the last one is asked. Node 22 has only the last one. A Node that may not know the flag would complain of it.
 */
const LATE_COMPILER = '--invocation-count-for-turbofan=1000000';
