import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * npm runs this before and after it packs. Before, it removes the members of package.json that only a checkout needs, and adds those that
 * follow from the place of the repository; after, it restores the file. With `prepare` in package.json, npm warns at the install of a tarball,
 * although a tarball needs no preparation. The original is saved in the checkout, because several checkouts may share their node_modules.
 */
const KEPT = '.edgewise/package.json';
const FOR_A_CHECKOUT = ['scripts', 'devDependencies', 'allowScripts'];

if (process.argv[2] === 'write') {
  const text = readFileSync('package.json', 'utf8');
  const entries = Object.entries(JSON.parse(text)).filter(([key]) => !FOR_A_CHECKOUT.includes(key));
  const manifest = { ...Object.fromEntries(entries), ...listPlaces() };
  mkdirSync(dirname(KEPT), { recursive: true });
  writeFileSync(KEPT, text);
  writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
} else if (existsSync(KEPT)) {
  renameSync(KEPT, 'package.json');
}

/** Provenance needs `repository`. No place is better than a wrong one. */
function listPlaces() {
  const { url } = JSON.parse(readFileSync('.ci/repository.json', 'utf8'));
  if (url === '') return {};
  return {
    repository: { type: 'git', url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
}
