import type { StackFolder } from '../model/stack-tree.ts';
import { readApiKey } from '../stack/settings.ts';
import { StackError } from '../stack/stack-error.ts';
import type { Surroundings } from '../stack/surroundings.ts';

/**
 * What is equal for stacks of one account: base URL and key, whatever the variables are called that hold it. A key that is not there, as where
 * manifests are only checked, counts by its name. Never shown.
 */
export function toAccountId(
  { baseUrl = '', keyEnv }: Pick<StackFolder, 'baseUrl' | 'keyEnv'>,
  context: Pick<Surroundings, 'env' | 'cwd'>,
): string {
  return JSON.stringify([baseUrl, findKey(keyEnv, context) ?? { keyEnv }]);
}

function findKey(keyEnv: string | undefined, context: Pick<Surroundings, 'env' | 'cwd'>): string | undefined {
  try {
    return readApiKey(context, { keyEnv });
  } catch (error) {
    if (error instanceof StackError) return undefined;
    throw error;
  }
}
