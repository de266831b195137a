import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { suggest } from '../../manifest/suggest.ts';
import { StackError } from '../../model/user-errors.ts';
import { isEmbedded, parseEmbeddedDataFile } from '../../settings/base-url.ts';
import type { ServiceSettings } from '../../settings/table.ts';
import type { Context } from '../context.ts';

/** How the account of the embedded server is kept, as the end of a sentence. */
export function describeEmbeddedAccount({ baseUrl }: ServiceSettings, context: Pick<Context, 'cwd'>): string {
  const file = parseEmbeddedDataFile(baseUrl);
  if (file === '') return ', which forgets everything at the end of this command';
  return existsSync(resolve(context.cwd, file)) ? `, kept in ${file}` : `, new and empty: ${file} does not exist yet`;
}

/** Throws if a command that only shows an account names a data file that does not exist: it would show an empty account. */
export function refuseMissingDataFile({ baseUrl }: ServiceSettings, context: Pick<Context, 'cwd'>): void {
  const file = isEmbedded(baseUrl) ? parseEmbeddedDataFile(baseUrl) : '';
  const path = resolve(context.cwd, file);
  if (file === '' || existsSync(path)) return;
  const folder = dirname(path);
  const nearest = existsSync(folder) ? suggest(basename(path), readdirSync(folder)) : undefined;
  const meant =
    nearest === undefined ? 'Correct the name' : `Did you mean \`embedded:${join(dirname(file), nearest)}\`?`;
  throw new StackError(`The data file of the embedded server does not exist: ${file}.`, {
    reason: 'invalid',
    remedy: nearest === undefined ? `${meant}, or apply something first: apply creates the file.` : meant,
  });
}
