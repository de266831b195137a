import { join } from 'node:path';
import { expect } from 'vitest';
import type { FakeOptions } from '../cli/fake-context.ts';
import { createWorkspace } from '../cli/workspace.ts';

/** The folder with the examples. */
export const EXAMPLES = join(import.meta.dirname, '../../examples');

/** Arguments of an example for the command line. */
export interface Example {
  readonly paths: string;
  /** The number of resources that it describes. */
  readonly resources: number;
  readonly context?: Partial<FakeOptions>;
  /** Flags for its destroy. */
  readonly destroyFlags?: string;
}

/** An error or a warning, except that a former name has no effect in a new account. */
const SOMETHING_WRONG = /^(warning(?!\[predecessor-unclear\]: .* has no .* to rename)|error)/m;

/** Expects that an example is valid, is created, then needs nothing, and is deleted, on its own bundled server. */
export async function expectCreatedAndDeleted({
  paths,
  resources,
  context,
  destroyFlags = '',
}: Example): Promise<void> {
  const { edgewise, folder, server } = await createWorkspace();
  const run = async (line: string, exitCode: number): Promise<string> => {
    // Without tests and other variants of the example, whose stacks have the same name.
    const root = paths.includes('/') ? paths : '.';
    const env = { ...context?.env, ...(paths !== '-' && { EDGEWISE_ROOT: root }) };
    const result = await edgewise(`${line} ${paths}`, { cwd: EXAMPLES, ...context, env });
    expect(result.exitCode, `${line} ${paths} printed:\n${result.stdout}${result.stderr}`).toBe(exitCode);
    return result.stdout;
  };
  expect(await run('validate', 0)).toContain(`${resources} resources`);
  const planned = await run('plan --detailed-exitcode', 2);
  expect(planned).toContain('0 to delete, 0 to replace');
  expect(planned).not.toMatch(SOMETHING_WRONG);
  await run(`apply --yes --token-directory ${join(folder, 'tokens')}`, 0);
  expect(await run('plan --detailed-exitcode', 0)).toContain(
    `Nothing to do: ${resources} resources match the manifests.`,
  );
  await run(`destroy --yes${destroyFlags}`, 0);
  expect(Object.values(server.snapshot().resources).flat().filter(isOwned)).toEqual([]);
}

/** An HTTPS edge and its routes stay, without modules. */
function isOwned(resource: object): boolean {
  return 'created_at' in resource || Object.values(resource).some((value) => typeof value === 'object');
}
