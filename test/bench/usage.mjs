import { writeFileSync } from 'node:fs';

/**
 * Preloaded into a program that is measured: leaves what it used of the machine in a file when it ends. Plain JavaScript, as the
 * floor is, so that no time goes into translating.
 */
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const usage = { peakMegabytes: (maxRSS * 1024) / 1e6, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 };
  writeFileSync(process.env.BENCH_USAGE_FILE, JSON.stringify(usage));
});
