import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { OWNED_KINDS } from '../src/kinds/tables/registry.ts';

/**
 * Runs the commands of a document and shows their output. The `console` blocks of a document are one session in one shell: a line that starts
 * with `$ ` is a command, and the lines below it are its output. The script in `.ci/sessions/` with the name of the document creates the files
 * of the session. A command must succeed, with every part of a pipe, unless the next command is `echo $?`: then the number below that is the
 * expected exit code. A session that ends otherwise is an error, and never documentation.
 */

const BLOCK = /(?<=^```console\n)[\s\S]*?(?=^```$)/gm;
const PROMPT = /^\$ /m;
const ASK_EXIT_CODE = 'echo $?';

/** Whether a document has commands with their output. */
export function hasSession(document: string): boolean {
  return new RegExp(BLOCK).test(document);
}

/** Returns the document with the current output of its commands. Throws if a command ends with another exit code than the document says. */
export function refreshSession(document: string, file: string): string {
  const commands = [...document.matchAll(BLOCK)].flatMap(([block]) => listCommands(block));
  if (commands.length === 0) return document;
  const results = runCommands(
    commands.map(({ command }) => command),
    findSetup(file),
  );
  const faults = commands.flatMap(({ command }, index) => {
    const expected = toExpectedCode(commands[index + 1]);
    const { output = '', exitCode = 'none' } = results[index] ?? {};
    return expected === exitCode ? [] : [`$ ${command}\n${output}exit code ${exitCode}, and not ${expected}`];
  });
  if (faults.length > 0)
    throw new Error(`${file} has commands with other exit codes than it says:\n${faults.join('\n')}`);
  const outputs = results.map(({ output }) => output);
  return document.replace(BLOCK, (block) =>
    listCommands(block)
      .map(({ command }) => `$ ${command}\n${outputs.shift() ?? ''}`)
      .join(''),
  );
}

/** A command of a document, with the lines below it. */
interface ShownCommand {
  readonly command: string;
  readonly output: string;
}

function listCommands(block: string): readonly ShownCommand[] {
  return block
    .split(PROMPT)
    .slice(1)
    .map((part) => {
      const [command = '', ...lines] = part.split('\n');
      return { command, output: lines.join('\n') };
    });
}

function toExpectedCode(next: ShownCommand | undefined): string {
  return next?.command === ASK_EXIT_CODE ? next.output.trim() : '0';
}

function findSetup(file: string): string | undefined {
  const setup = resolve('.ci/sessions', `${basename(file, '.md')}.sh`);
  return existsSync(setup) ? setup : undefined;
}

/** The output and exit code of a command. */
interface CommandResult {
  readonly output: string;
  readonly exitCode: string;
}

/** Runs commands in one shell, one after another, in a temporary folder with the examples. */
function runCommands(commands: readonly string[], setup: string | undefined): readonly CommandResult[] {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-docs-'));
  try {
    cpSync('examples', join(folder, 'examples'), { recursive: true });
    // The examples are a checkout of their own, so that their stacks are not part of the session.
    mkdirSync(join(folder, 'examples/.git'));
    const script = toScript(commands, setup);
    const env = {
      PATH: [createProgram(folder), process.env['PATH']].join(':'),
      TMPDIR: folder,
    };
    const { stdout: output, status } = spawnSync('bash', ['--norc', '-c', script], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${setup ?? 'bash'} ended with exit code ${status}:\n${output}`);
    const given = [setup === undefined ? '' : readFileSync(setup, 'utf8'), ...commands].join('\n');
    const parts = withStableIds(withStableTimes(output), new Set(given.match(ID))).split('\0');
    return commands.map((_, index) => ({ output: parts[2 * index] ?? '', exitCode: parts[2 * index + 1] ?? 'none' }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toScript(commands: readonly string[], setup: string | undefined): string {
  return [
    'exec 2>&1',
    'set -o pipefail',
    ...(setup === undefined ? [] : toSetupLines(setup)),
    ...commands.map((command) => `${command}\n${REPORT_EXIT_CODE}`),
    'exit 0',
  ].join('\n');
}

/** Shows the output of a setup only if it fails. */
function toSetupLines(setup: string): readonly string[] {
  return ["trap 'cat .setup.log' EXIT", 'set -e', `. '${setup}' >.setup.log 2>&1`, 'set +e', 'trap - EXIT'];
}

/** Prints the exit code of the last command, and passes it to the next one. */
const REPORT_EXIT_CODE = `code=$?; printf '\\0%d\\0' "$code"; (exit "$code")`;

/** A folder for PATH, with `edgewise` in it: the file that EDGEWISE_BIN names, else the sources. */
function createProgram(folder: string): string {
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  const main = resolve(process.env['EDGEWISE_BIN'] ?? 'src/cli/main.ts');
  writeFileSync(join(bin, 'edgewise'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
  return bin;
}

const ID = new RegExp(`\\b(${OWNED_KINDS.map(({ idPrefix }) => idPrefix).join('|')})_[0-9A-Za-z]{27}\\b`, 'g');

/** Numbers the ids that a service creates, because they contain the time of creation: every run prints the same. */
function withStableIds(output: string, given: ReadonlySet<string>): string {
  const seen = new Map<string, string>();
  return output.replace(ID, (id, prefix: string) => {
    if (given.has(id)) return id;
    const known = seen.get(id) ?? `${prefix}_3M${toLetters(`${prefix} ${seen.size}`)}`;
    seen.set(id, known);
    return known;
  });
}

function toLetters(text: string): string {
  return hash('sha256', text, 'base64url').replaceAll(/[-_]/g, '').slice(0, 25);
}

const HOUR_MS = 3_600_000;

/** Replaces every current time with one time: only its format matters. */
function withStableTimes(output: string): string {
  return output.replace(/\b20\d\d-\d\d-\d\dT[\d:]{8}(\.\d{3})?Z\b/g, (time, ms) => {
    if (Math.abs(Date.now() - Date.parse(time)) > HOUR_MS) return time;
    return ms === undefined ? '2026-11-21T13:19:22Z' : '2026-11-21T13:19:22.901Z';
  });
}
