import { execFileSync } from 'node:child_process';
import { toEdge, type Workspace } from '../cli/workspace.ts';
import { requireProgramOrSkip } from '../needs.ts';

/** A `Stack` document of that name, with settings. */
export function toStack(name: string, spec: object = {}): string {
  return `${JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name }, spec })}\n`;
}

/** The files of a repository with `count` stacks. Each has an edge on its own port. */
export function toRepository(count: number, spec: object = {}): Readonly<Record<string, string>> {
  const names = Array.from({ length: count }, (_, index) => `s${String(index).padStart(2, '0')}`);
  return Object.fromEntries(
    names.flatMap((name, index) => [
      [`live/${name}/edgewise.yaml`, toStack(name, spec)],
      [`live/${name}/edges/edge.yaml`, toEdge(`${name}-edge`, 20_000 + index)],
    ]),
  );
}

/** Lists the writes since the last call, as method and path. */
export function listWrites({ recorder }: Workspace): readonly string[] {
  return recorder
    .take()
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
}

/** No sample hooks in a new repository, and no maintenance after a commit: both take longer than the commit. */
const SHORT_WORK = {
  GIT_TEMPLATE_DIR: '',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
};

/** Runs git in a folder, without the settings of the user who runs the tests. */
export function git(folder: string, ...words: readonly string[]): string {
  return runWithGit(folder, 'git', words);
}

/** Makes a folder a repository with all of its files committed. Uses one shell, because the large test process starts each program slowly. */
export function commitAll(folder: string): void {
  runWithGit(folder, 'sh', ['-c', 'git init -q -b main && git add -A && git commit -q --allow-empty -m all']);
}

function runWithGit(folder: string, program: string, words: readonly string[]): string {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
    ...SHORT_WORK,
  };
  requireProgramOrSkip('git');
  return execFileSync(program, words, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
