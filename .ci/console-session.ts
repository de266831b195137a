import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Commands in a document, run for what they print. The `console` blocks of a document are one session: lines that start with `$ `
 * are commands, the lines below each are its output.
 */

const BLOCK = /(?<=^```console\n)[\s\S]*?(?=^```$)/gm;
const PROMPT = /^\$ /m;

/** The document with the output that its commands have now. */
export function refreshSession(document: string): string {
  const outputs = runCommands([...document.matchAll(BLOCK)].flatMap(([block]) => listCommands(block)));
  return document.replace(BLOCK, (block) =>
    listCommands(block)
      .map((command) => `$ ${command}\n${outputs.shift() ?? ''}`)
      .join(''),
  );
}

function listCommands(block: string): readonly string[] {
  return block
    .split(PROMPT)
    .slice(1)
    .map((part) => part.split('\n', 1).join(''));
}

/** Runs commands in one shell, one after another, in a temporary folder that has the examples in it. */
function runCommands(commands: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-docs-'));
  try {
    cpSync('examples', join(folder, 'examples'), { recursive: true });
    const script = ['exec 2>&1', ...commands.map((command) => `${command}\nprintf '\\0'`)].join('\n');
    const env = { PATH: [createProgram(folder), process.env['PATH']].join(':'), TMPDIR: folder };
    const output = execFileSync('bash', ['--norc', '-c', script], { cwd: folder, env, encoding: 'utf8' });
    return withStableIds(output).split('\0').slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A folder for PATH, with `edgewise` in it. */
function createProgram(folder: string): string {
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  const main = resolve('src/cli/main.ts');
  writeFileSync(join(bin, 'edgewise'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
  return bin;
}

/** Ids that a service makes say when they were made. Here each says only which one it is, so that every run prints the same. */
function withStableIds(output: string): string {
  const seen = new Map<string, string>();
  return output.replace(/\b(edgtcp|bkdwd|ipx|agin|cr|sucrt)_[0-9A-Za-z]{27}\b/g, (id, prefix: string) => {
    const known = seen.get(id) ?? `${prefix}_3M${toLetters(`${prefix} ${seen.size}`)}`;
    seen.set(id, known);
    return known;
  });
}

function toLetters(text: string): string {
  return hash('sha256', text, 'base64url').replaceAll(/[-_]/g, '').slice(0, 25);
}
