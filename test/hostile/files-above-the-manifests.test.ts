import { lchownSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findRepository, listRootsOfPaths } from '../../src/files/boundary.ts';
import { findDistrust, searchUpward } from '../../src/files/trusted-users.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';

/** Another user of the machine leaves files above the manifests, where edgewise searches by default. */

const ROOT = 0;
const OTHER_USER = 65_534;
/** Only root can give a file to another user. */
const isRoot = process.getuid?.() === ROOT;

const DEFAULTS = `apiVersion: edgewise/v1
kind: Defaults
spec:
  api: { base_url: "https://stranger.test" }
  tokens: { default: { command: [sh, -c, "touch pwned"] } }
`;

/** A folder of the user below a folder that other users can write to. */
async function createWorkspaceBelowShared(mode = 0o1777): Promise<Workspace & { readonly shared: string }> {
  const workspace = await createWorkspace({ 'build/manifests/edgewise.yaml': STACK + toEdge('web', 20_001) });
  await chmod(workspace.folder, mode);
  return { ...workspace, shared: workspace.folder };
}

function changeUser(uid: number, ...paths: readonly string[]): void {
  for (const path of paths) lchownSync(path, uid, uid);
}

/** Another user makes the shared folder a repository with Defaults. */
async function createForeignRepository({
  shared,
  write,
}: Awaited<ReturnType<typeof createWorkspaceBelowShared>>): Promise<void> {
  await mkdir(join(shared, '.git'));
  await write({ 'defaults.yaml': DEFAULTS });
  changeUser(OTHER_USER, join(shared, '.git'), join(shared, 'defaults.yaml'));
}

const NOT_USED = 'defaults.yaml has Defaults for these manifests, but is not used, because ';

describe.runIf(isRoot)('Defaults of another user in a shared folder above the manifests', () => {
  it.each([
    'plan manifests',
    'plan manifests --untrusted',
    'plan manifests/edgewise.yaml',
    'apply manifests --yes',
    'drift manifests',
    'destroy manifests --yes',
    'release TCPEdge/web manifests --yes',
    'get manifests',
    'validate manifests',
    'explain settings manifests',
    'plan -R .',
    'apply -R manifests --yes',
    'drift -R manifests',
    'stacks',
    'stacks manifests --format github',
    'init other --name other',
    'export --owner test -o other',
  ])('are refused by name, and nothing is sent or written: edgewise %s', async (line) => {
    const workspace = await createWorkspaceBelowShared();
    await createForeignRepository(workspace);
    const cwd = join(workspace.shared, 'build');
    const { exitCode, stdout, stderr } = await workspace.edgewise(line, { cwd });
    expect(stdout + stderr).toContain(`${NOT_USED}it belongs to another user (uid ${OTHER_USER})`);
    expect(exitCode).toBe(3);
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET' || !line.startsWith('export'))).toEqual(
      [],
    );
    expect(readdirSync(cwd)).toEqual(['manifests']);
  });

  it.each(['sticky', 'not sticky'])('are refused if the folder is %s', async (what) => {
    const workspace = await createWorkspaceBelowShared(what === 'sticky' ? 0o1777 : 0o777);
    await createForeignRepository(workspace);
    const { exitCode, stdout } = await workspace.edgewise('validate manifests', {
      cwd: join(workspace.shared, 'build'),
    });
    expect(stdout).toContain(NOT_USED);
    expect(exitCode).toBe(3);
  });

  it('are refused if the user works in the shared folder itself', async () => {
    const workspace = await createWorkspaceBelowShared();
    await createForeignRepository(workspace);
    const { exitCode, stdout } = await workspace.edgewise('validate build/manifests');
    expect(stdout).toContain(`${NOT_USED}it belongs to another user`);
    expect(exitCode).toBe(3);
  });

  it('are not used if the user ends the search with --root', async () => {
    const workspace = await createWorkspaceBelowShared();
    await createForeignRepository(workspace);
    const cwd = join(workspace.shared, 'build');
    const { exitCode, stdout } = await workspace.edgewise('explain settings manifests --root .', { cwd });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/api\.base_url +https:\/\/api\.test/);
    expect(stdout).not.toContain('Defaults');
  });

  it('are not searched where no repository was found', async () => {
    const workspace = await createWorkspaceBelowShared();
    await workspace.write({ 'defaults.yaml': DEFAULTS });
    changeUser(OTHER_USER, join(workspace.shared, 'defaults.yaml'));
    const { exitCode } = await workspace.edgewise('validate manifests', { cwd: join(workspace.shared, 'build') });
    expect(exitCode).toBe(0);
  });
});

describe.runIf(isRoot)('Defaults above the manifests are refused by name', () => {
  /** Changes that each make Defaults untrusted, in a repository of a trusted user. */
  const WRONG: Readonly<Record<string, (at: Workspace) => unknown>> = {
    'as a link of another user to a file of root': async ({ folder }) => {
      await rename(join(folder, 'top/defaults.yaml'), join(folder, 'top/real'));
      await symlink('real', join(folder, 'top/defaults.yaml'));
      changeUser(OTHER_USER, join(folder, 'top/defaults.yaml'));
    },
    'as a link of root to a file of another user': async ({ folder }) => {
      await rename(join(folder, 'top/defaults.yaml'), join(folder, 'top/real'));
      await symlink('real', join(folder, 'top/defaults.yaml'));
      changeUser(OTHER_USER, join(folder, 'top/real'));
    },
    'as a file that every user can write': ({ folder }) => chmod(join(folder, 'top/defaults.yaml'), 0o666),
    'in a folder that every user can write': ({ folder }) => chmod(join(folder, 'top'), 0o777),
    'in a sticky folder that every user can write': ({ folder }) => chmod(join(folder, 'top'), 0o1777),
    'in a folder of another user': ({ folder }) => changeUser(OTHER_USER, join(folder, 'top')),
    'above a folder of another user': ({ folder }) => changeUser(OTHER_USER, join(folder, 'top/live')),
    'above a folder that every user can write': ({ folder }) => chmod(join(folder, 'top/live'), 0o777),
    'beside a .git of another user': ({ folder }) => changeUser(OTHER_USER, join(folder, 'top/.git')),
    'beside a .git that links to a folder of another user': async ({ folder }) => {
      await rename(join(folder, 'top/.git'), join(folder, 'git'));
      await symlink('../git', join(folder, 'top/.git'));
      changeUser(OTHER_USER, join(folder, 'git'));
    },
  };

  it.each(Object.entries(WRONG))('%s', async (_, make) => {
    const workspace = await createWorkspace({
      'top/live/web/manifests/edgewise.yaml': STACK,
      'top/defaults.yaml': DEFAULTS,
      'top/.git/HEAD': 'ref: refs/heads/main\n',
    });
    const cwd = join(workspace.folder, 'top/live/web');
    expect((await workspace.edgewise('validate manifests', { cwd })).exitCode).toBe(0);
    await make(workspace);
    for (const line of ['validate manifests', 'stacks']) {
      const { exitCode, stdout, stderr } = await workspace.edgewise(line, { cwd });
      expect(stdout + stderr).toContain(NOT_USED);
      expect(exitCode).toBe(3);
    }
  });
});

/** Lists a folder, and all files and folders below it. */
function listAll(folder: string): readonly string[] {
  return [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))];
}

describe.runIf(isRoot)('Defaults above the manifests are used', () => {
  const FILES = {
    'live/web/edgewise.yaml': STACK,
    'defaults.yaml': 'apiVersion: edgewise/v1\nkind: Defaults\nspec: { api: { page_size: 7 } }\n',
    '.git/HEAD': 'ref: refs/heads/main\n',
  };
  const expectUsed = async (workspace: Workspace, uid: number): Promise<void> => {
    const { stdout } = await workspace.edgewise('explain settings live/web', { uid });
    expect(stdout).toMatch(/api\.page_size +7 +Defaults defaults\.yaml/);
  };

  it.each([
    ['root, and the checkout belongs to the user of the host', ROOT, 1000],
    ['a user without an entry in passwd, and the checkout belongs to root', 1_000_660_000, ROOT],
    ['a user without an entry in passwd, and the checkout belongs to the user of the host', 1_000_660_000, 1000],
    ['the user of the checkout', 1000, 1000],
  ])('in a container that runs as %s', async (_, uid, user) => {
    const workspace = await createWorkspace(FILES);
    changeUser(user, ...listAll(workspace.folder));
    await expectUsed(workspace, uid);
  });

  it('in a checkout in which every user can write everything, as GitLab makes it', async () => {
    const workspace = await createWorkspace(FILES);
    for (const path of listAll(workspace.folder)) await chmod(path, 0o777);
    await expectUsed(workspace, ROOT);
    changeUser(OTHER_USER, join(workspace.folder, 'defaults.yaml'));
    expect((await workspace.edgewise('validate live/web')).stdout).toContain(NOT_USED);
  });

  it('in a repository of a colleague that --root names', async () => {
    const workspace = await createWorkspace(FILES);
    changeUser(1000, ...listAll(workspace.folder));
    changeUser(1001, ...listAll(join(workspace.folder, 'live/web')));
    const cwd = join(workspace.folder, 'live/web');
    expect((await workspace.edgewise('validate .', { cwd, uid: 1001 })).stdout).toContain(NOT_USED);
    expect((await workspace.edgewise(`validate . --root ${workspace.folder}`, { cwd, uid: 1001 })).exitCode).toBe(0);
  });
});

describe.runIf(isRoot)('a repository of another user above the manifests', () => {
  it('does not widen the folder in which manifests may name files', async () => {
    const workspace = await createWorkspaceBelowShared();
    const { shared, write, edgewise } = workspace;
    await write({
      'build/manifests/edgewise.yaml': `${STACK}spec: { policies: [../../rules.yaml] }\n`,
      'rules.yaml': '',
    });
    const cwd = join(shared, 'build');
    await mkdir(join(shared, '.git'));
    expect((await edgewise('validate manifests', { cwd, uid: ROOT })).stdout).toContain('is outside the repository');
    await rm(join(shared, '.git'), { recursive: true });
    changeUser(OTHER_USER, join(shared, 'rules.yaml'));
    expect((await edgewise('validate manifests', { cwd })).stdout).toContain('is outside the repository');
  });

  it('is not asked for the stacks beside the manifests', async () => {
    const workspace = await createWorkspaceBelowShared();
    await mkdir(join(workspace.shared, '.git'));
    changeUser(OTHER_USER, join(workspace.shared, '.git'));
    const context = { cwd: join(workspace.shared, 'build'), uid: ROOT };
    expect(findRepository(join(context.cwd, 'manifests'), context)).toBeUndefined();
    expect(listRootsOfPaths(['manifests'], context)).toEqual([context.cwd]);
  });

  it('gives no schema to an editor, and no program to a command that is shown', async () => {
    const workspace = await createWorkspaceBelowShared();
    const { shared, write, edgewise } = workspace;
    await write({ 'node_modules/edgewise/schemas/manifest.schema.json': '{}', 'node_modules/.bin/edgewise': '' });
    changeUser(OTHER_USER, ...listAll(join(shared, 'node_modules')));
    const cwd = join(shared, 'build');
    const env = { PATH: '' };
    const { stdout } = await edgewise('init other --name other --base-url embedded:', { cwd, env });
    expect(stdout).not.toContain('npx');
    expect(readFileSync(join(cwd, 'other/edgewise.yaml'), 'utf8')).not.toContain('node_modules');
  });
});

describe('a search upward', () => {
  it('visits the folders that the user chose, also those of other users', () => {
    const folder = join('/', 'tmp', 'a', 'b');
    const { folders, end } = searchUpward(folder, { cwd: '/tmp', uid: 1 });
    expect(folders.slice(0, 3)).toEqual([folder, dirname(folder), '/tmp']);
    expect(end).toBeUndefined();
  });

  it('trusts everything on a system without user ids', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-test-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await chmod(folder, 0o777);
    expect(findDistrust(folder, undefined)).toBeUndefined();
    expect(searchUpward(folder, { cwd: '/', uid: undefined }).folders.at(-1)).toBe('/');
  });

  it('is in one file of the program', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const climbing = files.filter((name) => {
      const text = readFileSync(join('src', name), 'utf8');
      // A loop up to the root of the file system compares a folder with its parent, or lists the folders above.
      return /dirname\(([\w.]+)\) === \1|([\w.]+) === dirname\(\2\)|listAncestors\b/.test(text);
    });
    // read-changes.ts reads nothing there: it finds where a path enters the repository. A repository that token-files.ts
    // finds can only make it refuse, and those that boundary.ts finds only take folders off the PATH.
    const others = ['repository/read-changes.ts', 'repository/token-files.ts'];
    const expected = [
      'files/boundary.ts',
      'files/real-path.ts',
      'files/trusted-users.ts',
      'manifest/load-upward.ts',
      ...others,
    ];
    expect(climbing.sort()).toEqual(expected);
  });
});
