import { writeFileSync } from 'node:fs';

/**
 * Preloaded into a program that is measured: leaves its peak memory, in KiB, in a file when it ends. Plain JavaScript, as the
 * floor is, so that no time goes into translating.
 */
process.on('exit', () => writeFileSync(process.env.BENCH_PEAK_FILE, String(process.resourceUsage().maxRSS)));
