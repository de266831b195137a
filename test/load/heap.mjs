/**
 * Imported before a program: notes what is on its heap after a collection, ten seconds after the start and at the end, in the file that
 * LOAD_HEAP_FILE names.
 */
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const measure = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

let afterTenSeconds;
setTimeout(() => {
  afterTenSeconds = measure();
}, 10_000).unref();

process.on('exit', () => {
  writeFileSync(process.env.LOAD_HEAP_FILE, JSON.stringify({ afterTenSeconds, atTheEnd: measure() }));
});
