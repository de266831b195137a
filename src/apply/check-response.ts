import type { Field } from '../kinds/field.ts';
import { fillUnknown } from '../kinds/fill-unknown.ts';
import { isModule, type Kind } from '../kinds/kind.ts';
import { isUnset, normalizeField, normalizeSpec } from '../kinds/normalize.ts';
import { readAttachment, readResource } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { isSameJson, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import { type Mark, parseMetadata } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import type { Write } from '../model/write.ts';
import type { ResolvedWrite } from './resolve-write.ts';

/** What the answer to a write shows: the whole resource, or the module that was set. */
export function readAnswer(write: Write, answer: JsonObject): LiveResource {
  const kind = getKind(write.kind);
  return write.act === 'set-module' ? readAttachment(kind, {}, { [write.module]: answer }) : readResource(kind, answer);
}

/** Fields that the service did not accept as sent: compares its answer with the request, field by field, in normal form. Empty: it accepted everything. */
export function listNotTaken(write: Write, sent: ResolvedWrite, live: LiveResource): readonly string[] {
  if (write.act !== 'set-module') return listNotKept(write, sent, live);
  return compareFields(write, { [write.module]: sent.body ?? null }, live.spec);
}

/** The same for a whole resource. A lost mark is named first, because without it the resource is not recognized as ours later. */
export function listNotKept(write: Write, sent: ResolvedWrite, live: LiveResource): readonly string[] {
  const mark = 'mark' in write ? write.mark : undefined;
  const isMarked = mark === undefined || (live.mark?.stack === mark.stack && live.mark.name === mark.name);
  const isKept = write.act === 'release' && live.mark !== undefined;
  return [
    ...(isMarked ? [] : [`the service did not keep the metadata of ${live.id}, which holds the mark`]),
    ...(isMarked && !isKept && isOtherMetadata(sent, live) ? ['the service did not accept metadata'] : []),
    ...(isKept ? ['the service left the metadata unchanged, with the mark in it'] : []),
    ...compareFields(write, sent.body ?? {}, live.spec),
  ];
}

function isOtherMetadata({ body }: ResolvedWrite, { mark, spec }: LiveResource): boolean {
  if (typeof body?.['metadata'] !== 'string') return false;
  const sent = parseMetadata(body['metadata']);
  return (
    (sent.mark !== mark && !isSameJson(toJson(sent.mark), toJson(mark))) ||
    !isSameJson(sent.user, spec['metadata'] ?? '')
  );
}

function toJson(mark: Mark | undefined): JsonObject | null {
  return mark === undefined ? null : { ...mark };
}

function compareFields(write: Write, sent: Spec, live: Spec): readonly string[] {
  const kind = getKind(write.kind);
  if (areAllTaken(kind, sent, live)) return [];
  const normal = normalizeSpec(kind, sent);
  const known = fillUnknown(kind, live, normal);
  return Object.entries(sent).flatMap(([name, value]) => {
    if (name === METADATA) return [];
    const field = kind.fields[name];
    const isForService = field?.serviceDefault === true && isUnset(value);
    if (field === undefined || isForService) return [];
    const wanted = normal[name] ?? normalizeField(field, value);
    const got = known[name];
    if (got === undefined || isSameJson(wanted, got)) return [];
    return [
      `the service did not accept ${isModule(field) ? `the module ${name}` : name}: ${show(wanted)} was sent, ${show(got)} came back`,
    ];
  });
}

/** Looked at on its own, since the mark is in it. */
const METADATA = 'metadata';

function areAllTaken(kind: Kind, sent: Spec, live: Spec): boolean {
  for (const name in sent)
    if (name !== METADATA && !isTaken(kind.fields[name], sent[name] ?? null, live[name])) return false;
  return true;
}

/** Whether it came back as it was sent, whole. */
function isTaken(field: Field | undefined, sent: Json, live: Json | undefined): boolean {
  return field === undefined || (live !== undefined && isSameJson(normalizeField(field, sent), live));
}

function show(value: Spec[string]): string {
  const text = toCanonicalJson(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
