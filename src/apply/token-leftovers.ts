import { join, resolve } from 'node:path';
import { describeWriteError, removeAbandonedFiles } from '../files/write-file.ts';
import { DEFAULT_TOKEN_FILE, type TokenSettings } from '../model/stack.ts';
import { type SinkContext, toTokenFileName } from './token-sinks.ts';

/**
 * A run that is killed while it writes a token leaves a hidden file with the token. The next write of the same token file
 * removes it, but there may be none. So each apply removes such files when it starts.
 */

/**
 * Removes the temporary files that killed runs left in the token folders of a stack, if they are older than a minute.
 * Returns a warning for each, because its token was on the disk in clear. Never rejects.
 */
export async function removeTokenLeftovers(
  { default: common, credentials }: TokenSettings,
  stack: string,
  { cwd, root, uid }: Pick<SinkContext, 'cwd' | 'root' | 'uid'>,
): Promise<readonly string[]> {
  const folders = [common, ...Object.values(credentials)].flatMap((sink) =>
    sink === undefined || 'command' in sink ? [] : [sink],
  );
  const warnings = new Set<string>();
  for (const { directory, file, within } of folders) {
    const isOwn = createTokenFileTest(file, stack);
    try {
      const found = await removeAbandonedFiles(resolve(cwd, directory), isOwn, { cwd, root, roots: within, uid });
      for (const name of found.removed) warnings.add(`${describeLeftover(directory, name)} It is removed.`);
      for (const [name, why] of found.kept) warnings.add(describeKeptLeftover(directory, name, why));
    } catch (error) {
      warnings.add(
        `The token folder ${directory} may contain tokens left by killed runs, and cannot be cleaned up: ${describeWriteError(error)}`,
      );
    }
  }
  return [...warnings];
}

function describeLeftover(directory: string, name: string): string {
  return `A killed run left ${join(directory, name)}, perhaps with a token.`;
}

function describeKeptLeftover(directory: string, name: string, why: string): string {
  return `${describeLeftover(directory, name)} It cannot be removed: ${why}. Delete it.`;
}

/** Creates a test for the names from which a sink of the stack makes those of its temporary files, which have no id. */
function createTokenFileTest(pattern: string = DEFAULT_TOKEN_FILE, stack: string): (name: string) => boolean {
  const around = toTokenFileName({ name: '{name}', id: '', stack }, pattern).split('{name}');
  const [first = '', ...others] = around.map((text) => text.replaceAll('.', '\\.'));
  const expression = new RegExp(`^${first}(${NAME_PATTERN})${others.join('\\1')}$`);
  return (name) => expression.test(name);
}

const NAME_PATTERN = '[a-z0-9][a-z0-9._-]*';
