import { resolve } from 'node:path';
import { resolveLinks } from '../files/real-path.ts';
import type { StackFolder } from '../model/stack-tree.ts';
import { StackError } from '../model/user-errors.ts';
import { isEmbedded, normalizeUrl, parseEmbeddedDataFile } from '../settings/base-url.ts';
import type { Host } from './host.ts';
import { readApiKey } from './settings.ts';

/**
 * Which stacks share a service or an account. An account is what one API key can see at one service. Everything that
 * compares services or accounts uses these functions.
 */

/**
 * Identifies the service at a base URL: equal for all spellings of it. Two names of one data file of the embedded server
 * are one service, because two servers would overwrite each other's data.
 */
export function toServiceId(baseUrl: string, { cwd }: Pick<Host, 'cwd'>): string {
  if (!isEmbedded(baseUrl)) return normalizeUrl(baseUrl);
  const file = parseEmbeddedDataFile(baseUrl);
  return file === '' ? baseUrl : resolveLinks(resolve(cwd, file));
}

/**
 * Returns a text that is equal for stacks of one account. It contains the API key, and must never be shown. If the key is
 * not set, as when manifests are only checked, it contains the name of the key's variable instead. The embedded server
 * has one account, whatever the key.
 */
export function createAccountKeyContainingSecret(
  { baseUrl = '', keyEnv }: Pick<StackFolder, 'baseUrl' | 'keyEnv'>,
  context: Pick<Host, 'env' | 'cwd' | 'secrets'>,
): string {
  const service = toServiceId(baseUrl, context);
  return JSON.stringify(isEmbedded(baseUrl) ? [service] : [service, findApiKey({ keyEnv }, context) ?? { keyEnv }]);
}

/** The API key of a stack. `undefined` if it is not set. */
export function findApiKey(
  { keyEnv }: Pick<StackFolder, 'keyEnv'>,
  context: Pick<Host, 'env' | 'cwd' | 'secrets'>,
): string | undefined {
  try {
    return readApiKey(context, { keyEnv });
  } catch (error) {
    if (error instanceof StackError) return undefined;
    throw error;
  }
}
