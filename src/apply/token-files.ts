import { resolve } from 'node:path';
import { findTemporaryBase } from '../files/file-names.ts';
import type { Address } from '../model/address.ts';
import { findSinkSettingsForCredential, type TokenSettings } from '../model/stack.ts';
import { type NamedCredential, RESCUE_PREFIX, toTokenFileName } from './token-sinks.ts';

/** The files that a token sink may write to a folder. They must not get into git. */
export interface TokenFolder {
  /** Absolute path. */
  readonly folder: string;
  /** The folder in messages. */
  readonly shown: string;
  /** Whether tokens are saved here whose own sink failed. */
  readonly isRescue: boolean;
  readonly files: readonly TokenFile[];
}

interface TokenFile {
  readonly address: Address;
  /** The name in messages. */
  readonly name: string;
  /**
   * Whether the sink may write this name: the file, with any id, a former file that is set aside, or the temporary one.
   */
  readonly isName: (name: string) => boolean;
}

/** A credential that a plan creates. */
export interface NewCredential extends NamedCredential {
  readonly address: Address;
}

/** Lists the folders to which the sinks of new credentials write. A folder of two sinks is listed twice. */
export function listTokenFolders(
  credentials: readonly NewCredential[],
  tokens: TokenSettings,
  cwd: string,
): readonly TokenFolder[] {
  const bySink = Map.groupBy(credentials, ({ name }) => findSinkSettingsForCredential(tokens, name));
  return Array.from(bySink, ([sink, members]): readonly TokenFolder[] => {
    if (sink === undefined || 'command' in sink) return [];
    const { directory, file } = sink;
    const files = members.map((one) => createTokenFile(one, file));
    return [{ folder: resolve(cwd, directory), shown: directory, isRescue: false, files }];
  }).flat();
}

/** The place of rescued tokens, which are saved to new folders below it. */
export function createRescueFolder(parent: string, [first]: readonly NewCredential[]): readonly TokenFolder[] {
  if (first === undefined) return [];
  const files = [{ address: first.address, name: RESCUE_PREFIX, isName: () => false }];
  return [{ folder: resolve(parent), shown: parent, isRescue: true, files }];
}

function createTokenFile({ address, ...credential }: NewCredential, pattern: string | undefined): TokenFile {
  const name = toTokenFileName({ ...credential, id: 'ID' }, pattern);
  const temporary = toTokenFileName({ ...credential, id: '' }, pattern);
  // Names contain no other character with a meaning in expressions.
  const own = toTokenFileName({ ...credential, id: '{id}' }, pattern)
    .replaceAll('.', '\\.')
    .replaceAll('{id}', '\\w+');
  const expression = new RegExp(`^${own}(?:\\.\\d+)?$`);
  return {
    address,
    name,
    isName: (other) => {
      const base = findTemporaryBase(other);
      return base === undefined ? expression.test(other) : base === temporary;
    },
  };
}

/** A token that would be written where a commit could contain it. */
export interface TokenInGit {
  /** The first of the credentials. */
  readonly address: Address;
  readonly message: string;
  readonly remedy: string;
}

/** Finds the folders whose files git tracks or does not ignore, or about which no git can be asked. */
export type FindTokensInGit<Host> = (folders: readonly TokenFolder[], host: Host) => Promise<readonly TokenInGit[]>;
