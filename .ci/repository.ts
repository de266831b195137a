import { globSync, readFileSync } from 'node:fs';

/**
 * Where edgewise is, and the commit that its pages and recipes pin. REPOSITORY_FILE is the only file that says so: `packed-manifest.mjs`, the pages
 * and the release read it. An empty value is not filled in yet.
 */
export interface Repository {
  /** Such as `https://github.com/ada/edgewise`. */
  readonly url: string;
  /** 40 hexadecimal digits. */
  readonly commit: string;
  /** The tag of the commit, such as `v1.0.0`: beside a commit, a bot needs it to propose a newer one. */
  readonly version?: string;
}

export const REPOSITORY_FILE = '.ci/repository.json';

/** What pages and recipes name until REPOSITORY_FILE is filled in. */
const UNKNOWN: Repository = { url: 'https://github.com/OWNER/edgewise', commit: 'COMMIT' };

/** An action of edgewise at a commit. */
const ACTION = /[\w.-]+\/[\w.-]+(\/\.github\/actions\/[\w-]+)@[\w.-]+(?: # v[\w.-]+)?/g;
/** The hooks of edgewise for pre-commit. */
const HOOKS = /^( *- repo: )\S+(\n *rev: )\S+(?=\n *hooks:\n *- id: edgewise-)/gm;
/** The component for GitLab. It comes from a mirror, which has the same commits. */
const COMPONENT = /(- project: \$EDGEWISE_COMPONENT_PROJECT\n *ref: )\S+([\s\S]*?\n *version: )\S+/g;

/** What the component builds if its inputs do not name a version. */
const COMPONENT_DEFAULT = /(\n {4}version:\n {6}description: [^\n]*\n {6}default: )\S+/g;

export function readRepository(): Repository {
  return JSON.parse(readFileSync(REPOSITORY_FILE, 'utf8'));
}

/** The pages and recipes that name the repository and a commit, by their paths. */
export function readPinnedFiles(): ReadonlyMap<string, string> {
  const files = globSync(['README.md', 'docs/**/*.md', 'examples/pipelines/**/{*,.*}.{md,yaml,yml}']).sort();
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')] as const).filter(([, text]) => hasPin(text)));
}

function hasPin(text: string): boolean {
  return [ACTION, HOOKS, COMPONENT, COMPONENT_DEFAULT].some((pattern) => text.search(pattern) >= 0);
}

/** Returns a page or recipe that names this repository and commit. */
export function refreshPins(text: string, repository: Repository): string {
  const url = repository.url || UNKNOWN.url;
  const commit = repository.commit || UNKNOWN.commit;
  const version = repository.version ? ` # ${repository.version}` : '';
  return text
    .replace(ACTION, (_, action: string) => `${new URL(url).pathname.slice(1)}${action}@${commit}${version}`)
    .replace(HOOKS, (_, repo: string, rev: string) => `${repo}${url}${rev}${commit}`)
    .replace(COMPONENT, (_, ref: string, version: string) => `${ref}${commit}${version}${commit}`)
    .replace(COMPONENT_DEFAULT, (_, start: string) => `${start}${commit}`);
}
