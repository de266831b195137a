#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' };

/**
 * The entry point. Checks the Node version before it loads code that an older Node cannot parse. So this file imports
 * nothing else statically, and has no newer syntax.
 */
const NEEDED = packageJson.engines.node.replace('>=', '');

/** Equals `EXIT.invalid`, which is not imported, because an older Node may be unable to parse that file. */
const INVALID = 3;

if (isOlder(process.versions.node, NEEDED)) {
  const line = NEEDED.split('.')[0];
  process.stderr.write(
    `edgewise ${packageJson.version} needs Node ${NEEDED} or newer; this is Node ${process.versions.node}. Get one from a version manager (nvm install ${line}) or from npm (npm install --save-dev node@${line}, then npx --no-install edgewise), or use the container image (Dockerfile).\n`,
  );
  process.exitCode = INVALID;
} else {
  import('./program.ts').then(({ runProgram }) => runProgram());
}

function isOlder(version: string, needed: string): boolean {
  const left = version.split('.').map(Number);
  const right = needed.split('.').map(Number);
  for (let index = 0; index < 3; index += 1) {
    const difference = Number(left[index]) - Number(right[index]);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
