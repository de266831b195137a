import packageJson from '../../package.json' with { type: 'json' };
import { startProgram } from './start-program.ts';

/**
 * Where the command starts: says in one line which Node it needs, before anything is loaded that an older one cannot read. So the
 * build makes one file of what is imported here, in a language that is older, and nothing else of src is.
 */
const NEEDED = packageJson.engines.node.replace('>=', '');

/** Digest of the files beside this one, which the build puts here. */
declare const BUILD: string;

/** As `EXIT_CODES.invalid`, which stands in a file that an older Node may not read. */
const INVALID = 3;

if (isOlder(process.versions.node, NEEDED)) {
  process.stderr.write(
    `edgewise ${packageJson.version} needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.\n`,
  );
  process.exitCode = INVALID;
} else {
  const folder = `${import.meta.dirname}/parts`;
  startProgram({ process, version: packageJson.version, build: BUILD, folder });
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
