import { dirname, join, relative, resolve, sep } from 'node:path';
import type { FindTokensInGit, TokenFolder, TokenInGit } from '../apply/token-files.ts';
import { findRepository, isBelow } from '../files/boundary.ts';
import { findStats, resolveLinks } from '../files/real-path.ts';
import { findFileReplaceableByOthers } from '../files/trusted-users.ts';
import type { Address } from '../model/address.ts';
import { escapePath, quoteForShell } from '../model/shell-words.ts';
import { StackError } from '../model/user-errors.ts';

import { createRepository, type GitHost, type GitRepository } from './git.ts';

/**
 * Finds token folders in the work tree of a repository whose files `git add` could stage, or that a checkout could
 * replace. A folder counts as safe only if git ignores the folder itself, so that no pattern can include a file in it
 * again, and tracks no file with the name of a token. Without a git to ask, it does not.
 */
export const findTokensInGit: FindTokensInGit<GitHost> = async (folders, host) => {
  const placed = folders.map((folder): PlacedFolder => {
    const real = resolveLinks(folder.folder);
    return { ...folder, real, top: findWorkTree(real, host) };
  });
  const tokens: TokenInGit[] = [];
  for (const [top, members] of Map.groupBy(placed, (one) => one.top))
    if (top !== undefined) tokens.push(...(await findInRepository(createRepository(top, host), members, host)));
    else tokens.push(...members.filter((one) => isInNamedWorkTree(one, host)).flatMap(describeNamedWorkTree));
  return tokens;
};

/** Whether the environment makes a work tree of a folder around this one. Git gets none of these variables from edgewise. */
function isInNamedWorkTree({ real }: PlacedFolder, { cwd, env }: GitHost): boolean {
  const named = env['GIT_WORK_TREE'] ?? (env['GIT_DIR'] === undefined ? undefined : '.');
  return named !== undefined && isBelow(real, resolveLinks(resolve(cwd, named)));
}

function describeNamedWorkTree(folder: PlacedFolder): readonly TokenInGit[] {
  const message = 'GIT_DIR or GIT_WORK_TREE makes a work tree of a folder around it';
  return describeUnknown(folder, new StackError(message, { reason: 'invalid', remedy: 'unset both variables.' }));
}

/**
 * Returns the nearest folder with `.git`, also of another user, who may commit. But not a `.git` that another user put
 * into a folder such as `/tmp`, which would stop each apply on the machine: nobody works there.
 */
function findWorkTree(folder: string, host: Pick<GitHost, 'cwd' | 'uid'>): string | undefined {
  const { cwd, uid } = host;
  const top = findRepository(folder, { cwd, uid: undefined });
  if (top === undefined || findFileReplaceableByOthers(join(top, '.git'), uid) === undefined) return top;
  return dirname(top) === top ? undefined : findWorkTree(dirname(top), host);
}

interface PlacedFolder extends TokenFolder {
  /** The real path. The folder need not exist. */
  readonly real: string;
  /** The nearest folder with `.git`. */
  readonly top: string | undefined;
}

async function findInRepository(
  repository: GitRepository,
  folders: readonly PlacedFolder[],
  { cwd }: GitHost,
): Promise<readonly TokenInGit[]> {
  const place = { cwd, top: repository.top };
  try {
    const tracked = await listTracked(repository, folders);
    const ignored = await listIgnored(repository, folders);
    return folders.flatMap((folder) => {
      const committed = findFile(folder, ({ isName }) => tracked.get(folder)?.find(isName));
      if (committed !== undefined) return [describeTracked(folder, committed, place)];
      const first = ignored.has(folder) ? undefined : findFile(folder, ({ name }) => name);
      return first === undefined ? [] : [describeNotIgnored(folder, first, place)];
    });
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    return folders.flatMap((folder) => describeUnknown(folder, error));
  }
}

/** A file that may get into git: the name, and the credentials with such a file. */
interface FoundFile {
  readonly name: string;
  readonly address: Address;
  readonly count: number;
}

function findFile(
  { files }: TokenFolder,
  findName: (file: TokenFolder['files'][number]) => string | undefined,
): FoundFile | undefined {
  const found = files.flatMap((file) => {
    const name = findName(file);
    return name === undefined ? [] : [{ name, address: file.address }];
  });
  const [first] = found;
  return first && { ...first, count: found.length };
}

/** The names of the tracked files in each folder. */
async function listTracked(
  { top, run }: GitRepository,
  folders: readonly PlacedFolder[],
): Promise<ReadonlyMap<PlacedFolder, readonly string[]>> {
  const tracked = new Map<PlacedFolder, readonly string[]>();
  for (const folder of folders) {
    const below = toGitPath(top, folder.real);
    const listed = await run(['ls-files', '-z', '--', `:(literal)${below === '' ? '.' : below}`]);
    const start = below === '' ? 0 : below.length + 1;
    const names = listed.split('\0').map((path) => path.slice(start));
    tracked.set(
      folder,
      names.filter((name) => name !== '' && !name.includes('/')),
    );
  }
  return tracked;
}

/**
 * The folders that git ignores themselves. Of a folder that does not exist, git does not know that it is one: there, a
 * pattern that ends with a slash must be what ignores a file in it, because such a pattern matches only folders.
 */
async function listIgnored(
  repository: GitRepository,
  folders: readonly PlacedFolder[],
): Promise<ReadonlySet<PlacedFolder>> {
  const { top } = repository;
  const inside = folders.filter(({ real }) => real !== top);
  const probe = crypto.randomUUID();
  const paths = inside.flatMap(({ real }) => [real, join(real, probe)]).map((path) => toGitPath(top, path));
  const patterns = await findPatterns(repository, paths);
  return new Set(
    inside.filter(({ real }) => {
      const [own = '!', below = '!'] = [real, join(real, probe)].map((path) => patterns.get(toGitPath(top, path)));
      const isFolder = findStats(real)?.isDirectory() === true;
      return (isFolder && !own.startsWith('!')) || (!below.startsWith('!') && below.endsWith('/'));
    }),
  );
}

/** The last pattern that matches each path. One that begins with `!` includes the path again. */
async function findPatterns({ ask }: GitRepository, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const patterns = new Map<string, string>();
  const input = paths.map((path) => `${path}\0`).join('');
  const answer = await ask(['check-ignore', '--no-index', '--verbose', '-z', '--stdin'], input);
  if (typeof answer !== 'string') {
    // Git ends with 1 and says nothing if it ignores none of the files.
    if (answer.why === 'quiet') return patterns;
    throw answer.error;
  }
  const said = answer.split('\0');
  // Source, line, pattern and path.
  for (let at = 0; at + FIELDS <= said.length; at += FIELDS) patterns.set(said[at + 3] ?? '', said[at + 2] ?? '!');
  return patterns;
}

const FIELDS = 4;

function toGitPath(top: string, path: string): string {
  return relative(top, path).split(sep).join('/');
}

interface RepositoryPlace {
  readonly cwd: string;
  readonly top: string;
}

function describeFile({ shown, isRescue }: TokenFolder, { name, address, count }: FoundFile): string {
  if (isRescue) return `A token that cannot be delivered would be saved in ${shown}`;
  const others = count > 1 ? ` and of ${count - 1} more` : '';
  return `The token of ${address}${others} would be written to ${join(shown, name)}`;
}

function describeTracked(folder: PlacedFolder, file: FoundFile, place: RepositoryPlace): TokenInGit {
  const path = quoteForShell(escapePath(relative(place.cwd, join(folder.real, file.name))));
  return {
    address: file.address,
    message: `${describeFile(folder, file)}, which git tracks, so the next commit would contain it`,
    remedy: `Remove the file from git with git rm --cached ${path}, and ${describeIgnoring(folder, place)}. A token that was committed is no longer a secret: replace its credential.`,
  };
}

function describeNotIgnored(folder: PlacedFolder, file: FoundFile, place: RepositoryPlace): TokenInGit {
  const { isRescue } = folder;
  return {
    address: file.address,
    message: `${describeFile(folder, file)}, ${isRescue ? 'which' : 'in a folder that'} git does not ignore, so a commit could contain it`,
    remedy: isRescue ? ELSEWHERE_FOR_RESCUE : `${toSentence(describeIgnoring(folder, place))}, or ${ELSEWHERE}`,
  };
}

function describeUnknown(folder: PlacedFolder, { message, remedy = '' }: StackError): readonly TokenInGit[] {
  const file = findFile(folder, ({ name }) => name);
  if (file === undefined) return [];
  return [
    {
      address: file.address,
      message: `${describeFile(folder, file)}, and it is unknown whether git ignores that: ${message.replace(/\.$/, '')}`,
      remedy: folder.isRescue ? ELSEWHERE_FOR_RESCUE : `${toSentence(ELSEWHERE)} Otherwise: ${remedy}`,
    },
  ];
}

const ELSEWHERE = 'name a folder outside of the repository with --token-directory.';
const ELSEWHERE_FOR_RESCUE = 'Set TMPDIR to a folder outside of the repository.';

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The line for `.gitignore`. The root of a repository cannot be ignored. */
function describeIgnoring({ real }: PlacedFolder, { cwd, top }: RepositoryPlace): string {
  const below = toGitPath(top, real);
  const file = relative(cwd, join(top, '.gitignore'));
  if (below === '') return `use a folder for nothing but tokens, such as tokens, and add the line /tokens/ to ${file}`;
  return `add the line /${toIgnorePattern(below)}/ to ${file}`;
}

/** Escapes what has a meaning in `.gitignore`. */
function toIgnorePattern(path: string): string {
  return path.replace(/[\\*?[]| +$/g, (special) => special.replace(/./g, '\\$&'));
}
