import type { LiveRequest } from '../client/read-live.ts';
import { type ExportOptions, type ExportResult, exportLive } from '../export/export-live.ts';
import { findStateResources, listMissingResources, listRecognizedTypes } from '../export/state-resources.ts';
import type { TerraformState } from '../export/terraform-state.ts';
import type { Kind } from '../kinds/kind.ts';
import {
  type AttachedModulesToRead,
  isIdOf,
  listPathIdNamesOfKind,
  selectModulesOfAttachedResource,
} from '../kinds/paths.ts';
import { findOwnedKindOfId, listReferences } from '../kinds/references.ts';
import { ATTACHED_KINDS, getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { suggest } from '../manifest/suggest.ts';
import { parseAddress, toAddress } from '../model/address.ts';
import { DEFAULT_VERSION_HEADER_NAME } from '../model/http.ts';
import type { JsonObject } from '../model/json.ts';
import type { LiveState, Spec } from '../model/state.ts';
import { StackError } from '../model/user-errors.ts';
import type { ServiceSettings } from '../settings/table.ts';

import type { AccountReader } from './account.ts';

/** An existing resource that manifests can attach modules to, identified by the ids in its path. */
export interface AttachableResource {
  readonly kind: Kind;
  readonly ids: Spec;
}

export interface ExportRequest extends Pick<ExportOptions, 'names' | 'described'> {
  /** Addresses, ids, and names of kinds. Empty: all that can be listed. */
  readonly only: readonly string[];
  readonly attached: readonly AttachableResource[];
  /** The stack that will own the resources. `undefined`: no `Stack` document is exported. */
  readonly stack: string | undefined;
  readonly settings: ServiceSettings;
  readonly signal?: AbortSignal | undefined;
}

type ExportScope = Pick<ExportRequest, 'only' | 'attached' | 'described'>;

/**
 * Creates the request for the live state that an export needs. Throws for a kind that does not exist or cannot be
 * listed.
 */
export function createExportRequest({ only, attached, described }: ExportScope): LiveRequest {
  const identified = only.flatMap((word) => parseAttachedResourceIdPath(word) ?? []);
  const all = [...attached, ...identified];
  const attachedKinds = all.map(({ kind }) => kind);
  const words = only.filter((word) => parseAttachedResourceIdPath(word) === undefined);
  const named = words.map((word) => findOwnedKindOfId(word)?.name ?? parseAddress(word)?.kind ?? word);
  const listed = named.filter((name) => !attachedKinds.some((kind) => kind.name === name)).map(getListedKind);
  const { kinds: allowed } = described?.stack ?? {};
  const isAsked = (kind: Kind) => (only.length === 0 ? allowed?.includes(kind.name) !== false : listed.includes(kind));
  return {
    kinds: OWNED_KINDS.filter(isAsked),
    attachments: keepOnePerAddress(all.map(({ kind, ids }) => createAttachmentToRead(kind, ids))),
  };
}

/** Exports live resources as manifests that adopt them. Sends GETs only. */
export async function exportResources(
  reader: AccountReader,
  { only, attached, stack, settings, signal, names, described }: ExportRequest,
): Promise<ExportResult> {
  const request = createExportRequest({ only, attached, described });
  if (names !== undefined) requireResources(names);
  const asked = await reader.read({ ...request, signal });
  const referred = await reader.read({ kinds: listReferredKinds(asked), attachments: [], signal });
  const live = { ...asked, resources: new Map([...asked.resources, ...referred.resources]) };
  if (names !== undefined) requireSameAccount(names, live, settings);
  const isLimited = only.length > 0;
  const exported = exportLive(live, {
    stack,
    described,
    api: createApiSettings(settings),
    ...(isLimited && { kinds: listUsedKinds(request) }),
    // What an asked resource refers to is read, too.
    only: isLimited ? only : request.kinds.map(({ name }) => name),
    names,
  });
  if (exported.unknown.length > 0) throw createUnknownError(exported.unknown, settings);
  return exported;
}

/** The kinds that were not read, and have a resource to which one that was read refers. */
function listReferredKinds({ resources, attachments }: LiveState): readonly Kind[] {
  const all = [...resources.values(), [...attachments.values()]].flat();
  const referred = all.flatMap(({ kind, spec }) =>
    listReferences(getKind(kind), spec).map(({ value }) => findOwnedKindOfId(value)),
  );
  return OWNED_KINDS.filter((kind) => !resources.has(kind.name) && referred.includes(kind));
}

function createUnknownError(unknown: readonly string[], { baseUrl }: ServiceSettings): StackError {
  const lines = unknown.map((word) => `There is no ${word} to export at ${baseUrl}.`);
  const remedy =
    'Name an id, a kind, or an address as the export would write it: without any, everything is exported. `edgewise drift` lists what no stack manages.';
  return new StackError(lines, { reason: 'failed', remedy });
}

/** Throws if the state has no resource of a kind that edgewise manages. */
function requireResources(names: TerraformState): void {
  if (findStateResources(names).managed.size > 0) return;
  throw new StackError('The state contains no resource that edgewise manages.', {
    reason: 'invalid',
    remedy: `Name the state that has resources of these types: ${listRecognizedTypes().join(', ')}.`,
  });
}

/** Throws if the account has none of the resources of the state: it is probably the state of another account. */
function requireSameAccount(names: TerraformState, live: LiveState, { baseUrl }: ServiceSettings): void {
  const resources = findStateResources(names);
  const missing = listMissingResources(resources, live);
  const read = [...resources.managed.values()].filter(({ kind }) => live.resources.has(kind.name));
  if (read.length === 0 || missing.length < read.length) return;
  const [first] = read;
  throw new StackError(
    `The state is of another account: none of its ${read.length} resources exists at ${baseUrl}, such as ${first?.id}.`,
    { reason: 'invalid', remedy: 'Check EDGEWISE_BASE_URL and the API key, and which workspace the state is of.' },
  );
}

/**
 * Lists the kinds for `spec.kinds` of the exported Stack. Plans of that stack read only these kinds, because a stack
 * that was exported from some kinds probably uses no others.
 */
function listUsedKinds({ kinds, attachments }: LiveRequest): readonly string[] {
  return [...new Set([...kinds, ...attachments.map(({ kind }) => kind)].map(({ name }) => name))];
}

/** Creates `spec.api` of the exported Stack: the base URL, and the version header unless it is the default. */
function createApiSettings({ baseUrl, versionHeader }: ServiceSettings): JsonObject {
  return { base_url: baseUrl, ...(versionHeader !== DEFAULT_VERSION_HEADER_NAME && { version_header: versionHeader }) };
}

/**
 * Parses the ids of a resource and its parents, parents first, separated by slashes. Returns `undefined` if no kind
 * with modules has such ids.
 */
export function parseAttachedResourceIdPath(text: string): AttachableResource | undefined {
  const ids = text.split('/');
  const kind = ATTACHED_KINDS.find((candidate) => mayHaveIds(candidate, ids));
  if (kind === undefined) return undefined;
  return { kind, ids: Object.fromEntries(listPathIdNamesOfKind(kind).map((name, index) => [name, ids[index] ?? ''])) };
}

/** Lists the id format of each kind with modules, such as `edg_… (edge)`. */
export function listAttachedKindIdFormats(): readonly string[] {
  return ATTACHED_KINDS.map((kind) => `${formatIdShape(kind)} (${kind.title})`);
}

function formatIdShape(kind: Kind): string {
  return listPathPrefixes(kind)
    .map(([prefix]) => `${prefix}_…`)
    .join('/');
}

function mayHaveIds(kind: Kind, ids: readonly string[]): boolean {
  const prefixes = listPathPrefixes(kind);
  return ids.length === prefixes.length && ids.every((id, index) => isIdOf({ prefixes: prefixes[index] ?? [] }, id));
}

/** Lists the allowed id prefixes for each id in a kind's path. */
function listPathPrefixes(kind: Kind): readonly (readonly string[])[] {
  return listPathIdNamesOfKind(kind).map((name) => {
    const type = kind.fields[name]?.type;
    return type?.type === 'reference' ? type.prefixes : [];
  });
}

function getListedKind(name: string): Kind {
  const kind = OWNED_KINDS.find((candidate) => candidate.name === name);
  if (kind !== undefined) return kind;
  const unlisted = ATTACHED_KINDS.find((candidate) => candidate.name === name);
  if (unlisted !== undefined) {
    const remedy = `Name each by its id: ${formatIdShape(unlisted)}, or --modules-of ${formatIdShape(unlisted)}.`;
    throw new StackError(`The API has no list of ${name}.`, { reason: 'invalid', remedy });
  }
  const known = OWNED_KINDS.map((candidate) => candidate.name);
  const nearest = suggest(name, known);
  const remedy = nearest === undefined ? `The kinds are ${known.join(', ')}.` : `Did you mean ${nearest}?`;
  throw new StackError(`There is no kind ${name} to export.`, { reason: 'invalid', remedy });
}

function createAttachmentToRead(kind: Kind, ids: Spec): AttachedModulesToRead {
  return selectModulesOfAttachedResource(kind, { address: toAddress(kind.name, String(ids['id'])), spec: ids });
}

function keepOnePerAddress(attachments: readonly AttachedModulesToRead[]): readonly AttachedModulesToRead[] {
  return [...new Map(attachments.map((attachment) => [attachment.address, attachment])).values()];
}
