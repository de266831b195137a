import { resolve } from 'node:path';
import { findTemporaryBase, toAsideName, toTemporaryName } from '../files/file-names.ts';
import type { Address } from '../model/address.ts';
import { findSinkSettingsForCredential, type TokenSettings } from '../model/stack.ts';
import { RESCUE_PREFIX, toTokenFileName } from './token-sinks.ts';

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
  /** A name of each form: the file, the former file that is set aside, and the temporary one. */
  readonly names: readonly string[];
  /** Whether the sink may write this name, with any id or number. */
  readonly isName: (name: string) => boolean;
}

/** A credential that a plan creates. */
interface NewCredential {
  readonly address: Address;
  readonly name: string;
  readonly stack: string;
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

/** The place of rescued tokens. The names of their files differ only in what no rule of git can tell apart. */
export function createRescueFolder(parent: string, [first]: readonly NewCredential[]): readonly TokenFolder[] {
  if (first === undefined) return [];
  const names = [`${RESCUE_PREFIX}${MADE_UP_ID}/${toTokenFileName({ ...first, id: MADE_UP_ID })}`];
  const files = [{ address: first.address, names, isName: () => false }];
  return [{ folder: resolve(parent), shown: parent, isRescue: true, files }];
}

function createTokenFile({ address, ...credential }: NewCredential, pattern: string | undefined): TokenFile {
  const file = toTokenFileName({ ...credential, id: MADE_UP_ID }, pattern);
  const temporary = toTokenFileName({ ...credential, id: '' }, pattern);
  // Names contain no other character with a meaning in expressions.
  const expression = new RegExp(`^${file.replaceAll('.', '\\.').replaceAll(MADE_UP_ID, '\\w+')}(?:\\.\\d+)?$`);
  return {
    address,
    names: [file, toAsideName(file, 1), toTemporaryName(temporary, MADE_UP_UUID)],
    isName: (name) => {
      const base = findTemporaryBase(name);
      return base === undefined ? expression.test(name) : base === temporary;
    },
  };
}

/** In the place of the id that the service will choose. Of a length and form that no pattern of a user is made for. */
const MADE_UP_ID = 'cr_0000000000000000000000000';
const MADE_UP_UUID = '00000000-0000-0000-0000-000000000000';

/** A token that would be written where a commit could contain it. */
export interface TokenInGit {
  /** The first of the credentials. */
  readonly address: Address;
  readonly message: string;
  readonly remedy: string;
}

/** Finds the folders whose files git tracks or does not ignore, or about which no git can be asked. */
export type FindTokensInGit<Host> = (folders: readonly TokenFolder[], host: Host) => Promise<readonly TokenInGit[]>;
