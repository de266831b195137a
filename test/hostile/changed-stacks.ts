import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createWorkspace, toManifest, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, toStack } from '../repository/tree.ts';

export const WEB = 'live/web/edge.yaml';
export const TEXT = toManifest('WeightedBackend', 'w', {
  description: 'owner $Id$ C+AEE-',
  backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 },
});

export const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L\n';
/** A manifest with a field that names a file. */
export const SSH = toManifest('SSHUserCertificate', 'ci', {
  public_key: { file: '../../keys/ci.pub' },
  ssh_certificate_authority_id: 'sshca_2k9XLPDYGXNLtxcTVgVsKTFzfRt',
  principals: ['deploy'],
});

export const POLICY = toManifest('Policy', 'old', { rules: [] });
export const WITH_POLICIES = toStack('web', { policies: ['../../rules'] });
export const WITH_INPUTS = toStack('web', { inputs: ['../../base/**'] });

/** A repository with two stacks. The stack `other` never changes. */
export async function createRepository(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await createWorkspace({
    'live/web/edgewise.yaml': toStack('web'),
    [WEB]: TEXT,
    'live/other/edgewise.yaml': toStack('other'),
    'live/other/edge.yaml': TEXT.replaceAll('$', ''),
    ...files,
  });
  commitAll(workspace.folder);
  return workspace;
}

export async function listChanged(
  { edgewise }: Workspace,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { exitCode, stdout, stderr } = await edgewise('stacks live --changed-since main --format folder', { env });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout.trim().split('\n').join(' ');
}

/** Checks the files out again, so that git writes each file by its attributes. */
export async function checkOutAgain({ folder }: Workspace): Promise<void> {
  for (const file of git(folder, 'ls-files', '-z').split('\0').filter(Boolean)) await rm(join(folder, file));
  git(folder, 'checkout-index', '--all', '--index', '--force');
}

/** Commits single files from the index or the working tree, and no other. */
export function commit({ folder }: Workspace, ...files: readonly string[]): void {
  git(folder, 'add', '--', ...files);
  git(folder, 'commit', '-q', '-m', 'more');
}
