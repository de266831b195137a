import { findKind, MANIFEST_KINDS } from '../../kinds/tables/registry.ts';
import { suggest } from '../../manifest/suggest.ts';
import { parseAddress } from '../../model/address.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** Words of a command line that names resources, and the manifests of their stack. */

/** Whether a word is an address. A folder with the name of a kind is named as ./Kind/name. */
export function isResourceAddress(word: string): boolean {
  const parsed = parseAddress(word);
  return parsed !== undefined && findKind(parsed.kind) !== undefined;
}

/** Whether a word is the name of a kind that a stack can own or attach to. A folder of that name is named as ./Kind. */
export function isKindName(word: string): boolean {
  const kind = findKind(word);
  return kind !== undefined && kind.role !== 'submitted';
}

/** Refuses a word that is no kind and no address, and looks like one: it would be taken for a path. */
export function refuseMisspelt(words: readonly string[]): void {
  for (const word of words) {
    const name = parseAddress(word)?.kind ?? word;
    if (!/^[A-Z][A-Za-z]+$/.test(name) || findKind(name) !== undefined) continue;
    const nearest = suggest(
      name,
      MANIFEST_KINDS.map((kind) => kind.name),
    );
    if (nearest === undefined) continue;
    throw new CommandError(`There is no kind ${name}.`, {
      exitCode: EXIT.invalid,
      remedy: `Did you mean ${nearest}${word.slice(name.length)}? A path of that name is written ./${word}.`,
    });
  }
}
