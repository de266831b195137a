import { join } from 'node:path';
import { runCommand } from '../cli/fake-context.ts';
import { commitAll } from '../repository/tree.ts';
import { findStackAround, type Repository, renderMember, writeRepository } from './repository.ts';
import type { World } from './world.ts';

/**
 * Compares the stacks that count as changed since a commit with those that differ: stacks with another text, stacks around them, whose borders
 * may differ, stacks inside of these, because a file around them may have had Defaults, and stacks that refer to one of all these. It sends no request and takes no time. The files are not those of the runs, which do not start git.
 */
export async function checkChange(
  { folder, checker, log }: World,
  before: Repository,
  after: Repository,
): Promise<void> {
  const cwd = join(folder, 'history');
  const root = join(cwd, 'live');
  writeRepository(before, root, {});
  commitAll(cwd);
  writeRepository(after, root, {});
  log('git: which stacks changed?');
  const env = { EDGEWISE_BASE_URL: '' };
  const { stdout } = await runCommand(['stacks', 'live', '--changed-since', 'HEAD', '--format', 'json'], { cwd, env });
  const report: { readonly stacks: readonly { readonly name: string }[] } = JSON.parse(stdout);
  const [listed, expected] = [report.stacks.map(({ name }) => name), listChanged(before, after)].map((names) =>
    names.toSorted().join(', '),
  );
  if (listed !== expected)
    checker.reportViolation(`counts as changed: ${listed || 'nothing'}, instead of: ${expected}`);
}

function listChanged(before: Repository, after: Repository): readonly string[] {
  const earlier = new Map(before.map((stack) => [stack.name, renderMember(stack, { repository: before, api: {} })]));
  const texts = after.map((stack) => [stack.name, renderMember(stack, { repository: after, api: {} })] as const);
  const differing = texts.flatMap(([name, text]) => (earlier.get(name) === text ? [] : [name]));
  const inside = texts.flatMap(([name]) => (differing.includes(findStackAround(name) ?? '') ? [name] : []));
  const changed = new Set([...differing.flatMap((name) => [name, findStackAround(name) ?? name]), ...inside]);
  // A set also visits members that are added during the loop.
  for (const used of changed)
    for (const [name, text] of texts) if (text.includes(`\n  stack: ${used}\n`)) changed.add(name);
  return [...changed];
}
