import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { STACK, toEdge } from '../cli/workspace.ts';

/** A shell at a terminal, with an edgewise that records its runs. */
export interface Terminal {
  /** Types a text, with the tab key for each tab, and then enter. Returns the arguments with which edgewise ran. */
  readonly run: (keys: string) => Promise<readonly string[]>;
  /** Returns the text on the screen. */
  readonly screen: () => string;
  /** The folder in which it was opened. */
  readonly folder: string;
}

const SETTLE_MS = 150;
const PATIENCE_MS = 30_000;

/** Creates a folder with manifests and a program `edgewise` that completes as the real one, and otherwise records its arguments. */
export function createPlayground(): { readonly folder: string; readonly env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'manifests'));
  writeFileSync(
    join(folder, 'manifests/edgewise.yaml'),
    `${STACK}${toEdge('postgres', 20001)}${toEdge('redis', 20002)}`,
  );
  writeFileSync(join(folder, 'my plan.json'), '{}');
  const real = [process.execPath, resolve(process.env['EDGEWISE_BIN'] ?? 'src/cli/main.ts')]
    .map((word) => `'${word}'`)
    .join(' ');
  const script = [
    '#!/bin/sh',
    'case $1 in',
    `__complete|completion) exec ${real} "$@" ;;`,
    `*) { printf '%s\\n' "$@"; echo .; } >>'${folder}/ran' ;;`,
    'esac',
  ];
  writeFileSync(join(folder, 'bin/edgewise'), `${script.join('\n')}\n`);
  chmodSync(join(folder, 'bin/edgewise'), 0o755);
  const path = [join(folder, 'bin'), process.env['PATH'] ?? ''].join(delimiter);
  return { folder, env: { ...process.env, PATH: path, HOME: folder, TERM: 'xterm', HISTFILE: '', PS1: '$ ' } };
}

/** Opens a shell in a playground with more files, and runs a line in it first. */
export async function openTerminal(shell: string, setUp: string, files: readonly string[] = []): Promise<Terminal> {
  const { folder, env } = createPlayground();
  for (const name of files) writeFileSync(join(folder, name), '');
  const child = spawn('script', ['-qfec', shell, '/dev/null'], { cwd: folder, env, stdio: 'pipe' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let seen = '';
  child.stdout.on('data', (bytes: Buffer) => {
    seen += bytes.toString('utf8');
  });
  const count = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').split('\n').length : 0;
  const wait = async (what: string, isDone: () => boolean): Promise<void> => {
    const until = Date.now() + PATIENCE_MS;
    while (!isDone()) {
      if (Date.now() > until) throw new Error(`${shell} did not ${what}:\n${seen}`);
      await new Promise((done) => setTimeout(done, 20));
    }
    await new Promise((done) => setTimeout(done, SETTLE_MS));
  };
  child.stdin.write(`${setUp}; touch ready\r`);
  await wait('start', () => existsSync(join(folder, 'ready')));
  return {
    folder,
    screen: () => seen,
    run: async (keys) => {
      for (const [index, part] of keys.split('\t').entries()) {
        if (index > 0) {
          const shown = seen.length;
          child.stdin.write('\t');
          await wait('answer the tab key', () => seen.length > shown);
        }
        child.stdin.write(part);
      }
      rmSync(join(folder, 'ran'), { force: true });
      child.stdin.write('\r');
      await wait('run edgewise', () => count('ran') > 0 && readFileSync(join(folder, 'ran'), 'utf8').endsWith('\n.\n'));
      return readFileSync(join(folder, 'ran'), 'utf8').split('\n').slice(0, -2);
    },
  };
}
