#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' };
import { findUnreadablePart } from './unreadable-part.ts';

/**
 * The entry point. Checks the Node version before it loads code that an older Node cannot parse. So this file and what
 * it imports statically have no newer syntax.
 */
const NEEDED = packageJson.engines.node.replace('>=', '');

/** Equals `EXIT`, which is not imported, because an older Node may be unable to parse that file. */
const EXIT = { failed: 1, invalid: 3 };

/** Equals `PLAN_FORMAT`, for the same reason. */
const FORMAT = 7;

if (isOlder(process.versions.node, NEEDED)) {
  const line = NEEDED.split('.')[0];
  end(EXIT.invalid, {
    message: `edgewise ${packageJson.version} needs Node ${NEEDED} or newer; this is Node ${process.versions.node}.`,
    remedy: `Get one from a version manager (nvm install ${line}) or from npm (npm install --save-dev node@${line}, then npx --no-install edgewise), or use the container image (Dockerfile).`,
  });
} else {
  import('./program.ts')
    .then(({ runProgram }) => runProgram())
    .catch((error: unknown) => {
      const part = findUnreadablePart(error);
      if (part === undefined) throw error;
      end(EXIT.failed, {
        message: `edgewise ${packageJson.version} cannot read ${part}, a part of its own program.`,
        remedy:
          'Install edgewise again, so that this user can read it. If it was replaced during the run, run the command again.',
      });
    });
}

/** Says in one line why no command runs, and with `--format json` in a document as every failure does. */
function end(exitCode: number, error: { readonly message: string; readonly remedy: string }): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.exitCode = exitCode;
  process.stderr.write(`${error.message} ${error.remedy}\n`);
  if (!/ --format[= ]json(?: |$)/.test(process.argv.join(' '))) return;
  const failure = { diagnostics: [], error };
  const document = { command: null, failure, format: FORMAT, ok: false, stacks: [] };
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
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
