import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * What npm runs before and after it packs: package.json is packed without what is for a checkout only, and is put back. npm warns whoever installs a
 * tarball whose package.json has `prepare`, though nothing of a tarball is to be prepared. It is kept in the checkout: several may share their node_modules.
 */
const KEPT = '.edgewise/package.json';
const FOR_A_CHECKOUT = ['scripts', 'devDependencies', 'allowScripts'];

if (process.argv[2] === 'strip') {
  const text = readFileSync('package.json', 'utf8');
  const entries = Object.entries(JSON.parse(text)).filter(([key]) => !FOR_A_CHECKOUT.includes(key));
  mkdirSync(dirname(KEPT), { recursive: true });
  writeFileSync(KEPT, text);
  writeFileSync('package.json', `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
} else if (existsSync(KEPT)) {
  renameSync(KEPT, 'package.json');
}
