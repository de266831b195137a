import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { runCommand } from '../cli/fake-context.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';

/** Names that run a command, or are several words, in a shell if they are not quoted. */
const NAMES = ['$(touch pwned)', '`touch pwned`', 'a;touch pwned', 'a\ntouch pwned', "it's", '=touch', '-n', '~', '*'];

/** Returns the words that a shell reads in a part of a command line. */
function readWords(line: string, cwd: string): readonly string[] {
  const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { cwd, encoding: 'utf8' });
  return printed.split('\0').slice(0, -1);
}

async function readRemedy(workspace: Workspace, words: readonly string[]): Promise<string> {
  const { cwd, transport } = { cwd: workspace.folder, transport: workspace.recorder.transport };
  const { stdout, stderr } = await runCommand(words, { cwd, transport });
  return stdout + stderr;
}

/** Returns the escape of a name with a line break, in quotes. */
function toShellEscaped(name: string): string {
  return name.replaceAll('\n', '\\n');
}

describe('a command that edgewise proposes', () => {
  it.each(NAMES)('contains the name of a plan file as one word: %j', async (name) => {
    const workspace = await createWorkspace({ 'm/edgewise.yaml': STACK, 'm/edge.yaml': toEdge('a', 20001) });
    await workspace.edgewise('plan m -o plan.json');
    await rename(join(workspace.folder, 'plan.json'), join(workspace.folder, name));
    const said = await readRemedy(workspace, ['apply', '--yes', '--', name]);
    const proposed = /edgewise apply (MANIFESTS --approved .*)\n/s.exec(said)?.[1] ?? '';
    const path = name.startsWith('-') ? `./${name}` : toShellEscaped(name);
    expect(readWords(proposed, workspace.folder), said).toEqual(['MANIFESTS', '--approved', path]);
    expect(existsSync(join(workspace.folder, 'pwned'))).toBe(false);
  });

  it.each(NAMES)('contains the folder of an export as one word: %j', async (name) => {
    const workspace = await createWorkspace();
    await sendByHand(workspace, 'POST', '/edges/tcp', { hostports: ['1.tcp.example.net:20001'] });
    const said = await readRemedy(workspace, ['export', '--owner', 'test', `--out=${name}`]);
    const proposed = /Adopt it: .* plan (.*)\n/.exec(said)?.[1] ?? '';
    expect(readWords(proposed, workspace.folder), said).toEqual([
      name.startsWith('-') ? `./${name}` : toShellEscaped(name),
    ]);
  });

  it.each(NAMES)('contains the folder of the stacks as one word: %j', async (name) => {
    const workspace = await createWorkspace();
    await mkdir(join(workspace.folder, name, 's'), { recursive: true });
    await writeFile(join(workspace.folder, name, 's/edgewise.yaml'), STACK);
    const said = await readRemedy(workspace, ['stacks', '--stack', 'zzzzzzzz', '--', name]);
    const proposed = /edgewise stacks (.*) lists them/.exec(said)?.[1] ?? '';
    expect(readWords(proposed, workspace.folder), said).toEqual([
      name.startsWith('-') ? `./${name}` : toShellEscaped(name),
    ]);
  });
});
