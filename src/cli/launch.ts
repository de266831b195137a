import packageJson from '../../package.json' with { type: 'json' };

/**
 * Where the command starts: says in one line which Node it needs, before anything is loaded that an older one cannot read. So
 * this file, once it is built, holds nothing newer than a dynamic import, and imports nothing else of src.
 */
const NEEDED = packageJson.engines.node.replace('>=', '');

/** As `EXIT_CODES.invalid`, which stands in a file that an older Node may not read. */
const INVALID = 3;

if (isOlder(process.versions.node, NEEDED)) {
  process.stderr.write(
    `edgewise ${packageJson.version} needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.\n`,
  );
  process.exitCode = INVALID;
} else {
  start();
}

async function start(): Promise<void> {
  const { loadProgram } = await import('./load-program.ts');
  const folder = `${import.meta.dirname}/parts`;
  await loadProgram({ process, version: packageJson.version, folder }).runProgram();
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
