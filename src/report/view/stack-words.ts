import type { StackListing } from '../../model/stack-tree.ts';

/** How many stacks are meant, of how many, and why. An answer that is empty says why it is. */
export function describeStacks({ root: given, total, stacks, changes, shard }: StackListing): string {
  const root = given === '.' ? 'the current folder' : given;
  const some = `${stacks.length} of ${toStacks(total)} below ${root}`;
  const part = shard === undefined ? '' : `Shard ${shard.index} of ${shard.total} (${shard.from}): `;
  if (changes === undefined) return `${part}${stacks.length === total ? `${toStacks(total)} below ${root}` : some}.`;
  if (changes.changed.length === 0)
    return `${part}No stack has changed since ${changes.since}; ${toStacks(total)} below ${root}.`;
  const changed = `${changes.changed.length} of ${toStacks(total)} below ${root} changed since ${changes.since}`;
  return `${part}${changed}${stacks.length === changes.changed.length ? '' : `, ${stacks.length} of them here`}.`;
}

function toStacks(count: number): string {
  return count === 1 ? '1 stack' : `${count} stacks`;
}

/** Files that one line names; more of them are counted. */
const MAX_LISTED = 10;

/** What no stack owns, where somebody would expect one to. */
export function listUnownedLines({ unowned, changes }: StackListing): readonly string[] {
  const changed = changes?.unowned ?? [];
  const rest = unowned.filter((file) => !changed.includes(file));
  return [
    ...(changed.length === 0 ? [] : [`Changed, but of no stack: ${toNames(changed)}.`]),
    ...(changes !== undefined || rest.length === 0
      ? []
      : [`Manifests of no stack, which no run applies: ${toNames(rest)}.`]),
  ];
}

function toNames(files: readonly string[]): string {
  const more = files.length > MAX_LISTED ? ` and ${files.length - MAX_LISTED} more` : '';
  return `${files.slice(0, MAX_LISTED).join(', ')}${more}`;
}
