import type { Address } from '../model/address.ts';
import type { Spec } from '../model/state.ts';
import { isModule, type Kind, listSpecFields } from './kind.ts';
import { listPathFields } from './paths.ts';

/** Modules of something that exists already, each read at its own path. */
export interface Attachment {
  /** Of the manifest that attaches them. */
  readonly address: Address;
  readonly kind: Kind;
  /** The ids that stand in the kind's path. */
  readonly ids: Spec;
  /** Names of the module fields to read. */
  readonly modules: readonly string[];
}

/** What an attachment is made from. */
export interface AttachmentSource {
  readonly address: Address;
  /** Has the ids. */
  readonly spec: Spec;
  /** Whether a module is to be read; left out: all are. */
  readonly isRead?: (module: string) => boolean;
}

/** The modules of an attached kind that are to be read. */
export function toAttachment(kind: Kind, { address, spec, isRead = () => true }: AttachmentSource): Attachment {
  const ids = Object.fromEntries(listPathFields(kind).map((name) => [name, spec[name] ?? null]));
  const modules = listSpecFields(kind).flatMap(([name, field]) => (isModule(field) && isRead(name) ? [name] : []));
  return { address, kind, ids, modules };
}
