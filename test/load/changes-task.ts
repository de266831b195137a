import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../cli/fake-context.ts';
import { toManifest } from '../cli/workspace.ts';
import { commitAll, toStack } from '../repository/tree.ts';
import type { Prepare } from './steps/count.ts';

/**
 * Creates a repository of stacks, and lists those that changed since a commit: one, and those that refer to it. No folder
 * has more than ten members, because each stack reads the folders above it for Defaults. Some stacks are inside of another.
 */
export const prepareChanges: Prepare = async (count) => {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-changes-'));
  const toFolder = (index: number): string => join(folder, 'live', ...String(index).padStart(4, '0'));
  for (let index = 0; index < count; index += 1) {
    const user = toManifest('External', 'pool', { stack: `s${index % 10}`, resource: 'WeightedBackend/pool' });
    await mkdir(toFolder(index), { recursive: true });
    await writeFile(join(toFolder(index), 'edgewise.yaml'), toStack(`s${index}`));
    if (index >= 10) await writeFile(join(toFolder(index), 'user.yaml'), user);
  }
  await writeFile(join(folder, 'live/0/edgewise.yaml'), toStack('around'));
  commitAll(folder);
  await writeFile(join(toFolder(7), 'edgewise.yaml'), `${toStack('s7')}# changed\n`);
  return async () => {
    const words = ['stacks', 'live', '--changed-since', 'main', '--format', 'folder'];
    const { exitCode, stdout, stderr } = await runCommand(words, { cwd: folder });
    assert.equal(exitCode, 0, stderr);
    // The stack around the changed one may have changed too.
    assert.equal(stdout.trim().split('\n').length, count / 10 + 1);
    await rm(folder, { recursive: true });
  };
};
