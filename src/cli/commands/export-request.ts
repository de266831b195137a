import { InvalidArgumentError } from 'commander';
import type { LiveRequest } from '../../client/read-live.ts';
import { type Attachment, toAttachment } from '../../kinds/attachment.ts';
import { isIdOf } from '../../kinds/ids.ts';
import type { Kind } from '../../kinds/kind.ts';
import { listPathFields } from '../../kinds/paths.ts';
import { ATTACHED_KINDS, OWNED_KINDS } from '../../kinds/tables/registry.ts';
import { suggest } from '../../manifest/suggest.ts';
import { toAddress } from '../../model/address.ts';
import type { Spec } from '../../model/state.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** Something that exists, by the ids in its path, whose modules a manifest can attach. */
export interface Attached {
  readonly kind: Kind;
  readonly ids: Spec;
}

/** What an export reads: the kinds named, or all that can be listed, and the modules of what is named by its ids. */
export function toExportRequest(names: readonly string[], attached: readonly Attached[]): LiveRequest {
  const identified = new Set(attached.map(({ kind }) => kind.name));
  const listed = names.filter((name) => !identified.has(name)).map(findListedKind);
  return {
    kinds: OWNED_KINDS.filter((kind) => names.length === 0 || listed.includes(kind)),
    attachments: withoutTwins(attached.map(({ kind, ids }) => toWhole(kind, ids))),
  };
}

/** What has these ids, parents first, with slashes between. Throws `InvalidArgumentError` when nothing with modules can have them. */
export function parseAttached(text: string): Attached {
  const ids = text.split('/');
  const kind = ATTACHED_KINDS.find((candidate) => mayHaveIds(candidate, ids));
  if (kind === undefined) throw new InvalidArgumentError(`It is one of ${listIdShapes().join(', ')}.`);
  return { kind, ids: Object.fromEntries(listPathFields(kind).map((name, index) => [name, ids[index] ?? ''])) };
}

/** How the ids of each kind with modules look: `edg_… (edge)`. */
export function listIdShapes(): readonly string[] {
  return ATTACHED_KINDS.map((kind) => `${toIdShape(kind)} (${kind.title})`);
}

function toIdShape(kind: Kind): string {
  return listPathPrefixes(kind)
    .map(([prefix]) => `${prefix}_…`)
    .join('/');
}

function mayHaveIds(kind: Kind, ids: readonly string[]): boolean {
  const prefixes = listPathPrefixes(kind);
  return ids.length === prefixes.length && ids.every((id, index) => isIdOf({ prefixes: prefixes[index] ?? [] }, id));
}

/** The id prefixes that may stand at each place of a kind's path. */
function listPathPrefixes(kind: Kind): readonly (readonly string[])[] {
  return listPathFields(kind).map((name) => {
    const type = kind.fields[name]?.type;
    return type?.type === 'reference' ? type.prefixes : [];
  });
}

function findListedKind(name: string): Kind {
  const kind = OWNED_KINDS.find((candidate) => candidate.name === name);
  if (kind !== undefined) return kind;
  const unlisted = ATTACHED_KINDS.find((candidate) => candidate.name === name);
  if (unlisted !== undefined) {
    const remedy = `Name each by its id: --modules-of ${toIdShape(unlisted)}.`;
    throw new CommandError(`The interface has no list of ${name}.`, { exitCode: EXIT.invalid, remedy });
  }
  const known = OWNED_KINDS.map((candidate) => candidate.name);
  const nearest = suggest(name, known);
  const remedy = nearest === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${nearest}?`;
  throw new CommandError(`There is no kind ${name} to export.`, { exitCode: EXIT.invalid, remedy });
}

function toWhole(kind: Kind, ids: Spec): Attachment {
  return toAttachment(kind, { address: toAddress(kind.name, String(ids['id'])), spec: ids });
}

function withoutTwins(attachments: readonly Attachment[]): readonly Attachment[] {
  return [...new Map(attachments.map((attachment) => [attachment.address, attachment])).values()];
}
