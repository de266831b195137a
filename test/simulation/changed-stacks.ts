import { join } from 'node:path';
import { runCommand } from '../cli/fake-context.ts';
import { commitAll } from '../repository/tree.ts';
import { type Repository, renderMember, writeRepository } from './repository.ts';
import type { World } from './world.ts';

/**
 * Holds which stacks count as changed since a commit against what really differs: those with other text, and those that refer to them. No service is asked
 * and no time passes. The files are not those that runs see, which ask git nothing.
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
  const changed = new Set(texts.flatMap(([name, text]) => (earlier.get(name) === text ? [] : [name])));
  // A set is visited to its end: also what is added meanwhile.
  for (const used of changed)
    for (const [name, text] of texts) if (text.includes(`\n  stack: ${used}\n`)) changed.add(name);
  return [...changed];
}
