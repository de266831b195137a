import type { JsonObject } from '../../model/json.ts';
import type { StackFolder, StackListing } from '../../model/stack-tree.ts';
import { renderDocument } from './json.ts';

/** The stacks of a tree, for a program. */
export function renderStacksJson(listing: StackListing): string {
  const { root, total, stacks, changes, shard, unowned } = listing;
  return renderDocument({
    format: 1,
    command: 'stacks',
    ok: true,
    root,
    total,
    ...(changes !== undefined && { since: changes.since }),
    ...(shard !== undefined && { shard: { index: shard.index, total: shard.total, from: shard.from } }),
    stacks: stacks.map((stack) => toDocument(stack, listing)),
    unowned: changes?.unowned ?? unowned,
  });
}

function toDocument(stack: StackFolder, { changes }: StackListing): JsonObject {
  const change = changes?.changed.find((one) => one.stack.folder === stack.folder);
  return {
    name: stack.name,
    folder: stack.folder,
    file: stack.file,
    ...(stack.baseUrl !== undefined && { baseUrl: stack.baseUrl }),
    ...(stack.keyEnv !== undefined && { keyEnv: stack.keyEnv }),
    needs: stack.needs,
    ...(change !== undefined && { changed: { files: change.files, through: change.through } }),
  };
}

/** A line for each stack: its folder. */
export function renderStackFolders({ stacks }: StackListing): string {
  return stacks.map(({ folder }) => `${folder}\n`).join('');
}

/** What `strategy.matrix` of a GitHub job takes through `fromJSON`: a job for each stack. */
export function renderGitHubMatrix({ stacks }: StackListing): string {
  return `${JSON.stringify({ include: stacks.map(({ name, folder }) => ({ stack: name, folder })) })}\n`;
}

/**
 * A file for GitLab to include: the hidden job `.edgewise-stacks`, which a job of a child pipeline extends to run once for each stack. Without stacks it
 * never runs, since GitLab refuses an empty matrix.
 */
export function renderGitLabMatrix({ stacks }: StackListing): string {
  if (stacks.length === 0) return '.edgewise-stacks:\n  rules:\n    - when: never\n';
  const jobs = stacks.map(({ name, folder }) => {
    const [stack, path] = [JSON.stringify(name), JSON.stringify(folder)];
    return `      - EDGEWISE_STACK: ${stack}\n        EDGEWISE_FOLDER: ${path}\n`;
  });
  return `.edgewise-stacks:\n  parallel:\n    matrix:\n${jobs.join('')}`;
}
