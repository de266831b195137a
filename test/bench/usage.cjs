const { writeFileSync } = require('node:fs');

/** Required by a program that is measured: notes what it used of the machine when it ends. */
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const usage = { peakMegabytes: (maxRSS * 1024) / 1e6, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 };
  writeFileSync(process.env.BENCH_USAGE_FILE, JSON.stringify(usage));
});
