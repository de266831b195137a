/**
 * Plans in one process, with and without a rehearsal, and prints what each takes, its CPU time and its time in milliseconds, as JSON. Takes the address of a service, its key,
 * a folder with manifests, how often, and whether the first plan is rehearsed.
 */
const [url, key, manifests, times, first] = process.argv.slice(2);

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const { openStack } = await import('../../dist/lib/index.js');

const startClock = () => {
  const [before, beforeMs] = [process.cpuUsage(), performance.now()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { cpu: (user + system) / 1000, time: performance.now() - beforeMs };
  };
};
const plans = { with: [], without: [] };
for (let turn = 0; turn < Number(times); turn += 1) {
  const way = (turn % 2 === 0) === (first === 'with') ? 'with' : 'without';
  const stop = startClock();
  const texts = readdirSync(manifests).map((file) => ({ file, text: readFileSync(join(manifests, file), 'utf8') }));
  const stack = await openStack({ manifests: texts, baseUrl: url, apiKey: key, rateLimit: 'none' });
  const { writes } = await stack.plan({ rehearsal: way === 'with' });
  plans[way].push(stop());
  plans.writes = writes.length;
  await stack.close();
}
console.log(JSON.stringify(plans));
