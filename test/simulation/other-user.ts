import fc from 'fast-check';
import type { Kind } from '../../src/kinds/kind.ts';
import { toResourcePath } from '../../src/kinds/paths.ts';
import { isReferable, listReferences, mapReferences, type Reference } from '../../src/kinds/references.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { toAddress } from '../../src/model/address.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { isJsonObject } from '../../src/model/json.ts';
import { findCutMark, renderMetadata, renderUserMetadata } from '../../src/model/mark.ts';
import { arbitrarySpec } from '../laws/arbitrary-values.ts';
import { changeField, createOutsideResource, listChangeable, type SharedService } from '../laws/other-user.ts';
import { STACK_NAME, type TestResource, type TestStack } from '../laws/stack.ts';
import type { SeededRandom } from './random.ts';
import { findOurMark } from './request-checker.ts';
import { listCompleteResources, WITNESS } from './service-behaviours.ts';

/** Changes of other users, during the runs of edgewise and between them. */

/** An account with other users. */
export interface SharedAccount {
  readonly service: SharedService;
  /** Stacks whose values other users set. */
  readonly stacks: readonly TestStack[];
  readonly chance: SeededRandom;
}

/** Makes one change, and returns its description. A change that the service rejects has no effect. */
export async function changeAsOtherUser({ service, stacks, chance }: SharedAccount): Promise<string> {
  const resource = chance.pickAny(stacks.flat());
  const [name, act] = chance.pick<readonly [string, () => Promise<unknown>]>([
    ['changes', () => change(service, stacks, resource, chance)],
    ['changes', () => change(service, stacks, resource, chance)],
    ['empties', () => clearValue(service, { stacks, resource, chance })],
    ['deletes', () => remove(service, chance)],
    ['creates', () => create(service, resource, chance)],
    ['copies', () => copy(service, chance)],
    ['marks anew', () => mark(service, chance)],
  ]);
  const what = `others: ${name} (${resource?.kind}/${resource?.name})`;
  return act().then(
    () => what,
    (error: unknown) => `${what}, and is refused: ${String(error).slice(0, 80)}`,
  );
}

/** Another user creates resources in which the service shows every field. */
export async function createCompleteResources(service: SharedService): Promise<void> {
  for (const { path, body } of listCompleteResources()) await service.call('POST', path, body);
}

/**
 * Gets out of the way what would block every apply: resources of other users that claim our unique values, and resources without
 * metadata, or with the beginning of a mark, which may be ours and have lost their marks; and what records that the service
 * refused a creation, which only a consent tries again.
 */
export async function deleteConflictingResources(service: SharedService): Promise<void> {
  for (const kind of OWNED_KINDS) {
    const isUnique = Object.values(kind.fields).some(({ unique }) => unique);
    for (const resource of service.resources()[kind.name] ?? []) {
      const { metadata = '' } = resource;
      const mayBeOurs = metadata === '' || findCutMark({ spec: { metadata } }) !== undefined;
      const mark = findOurMark(resource);
      const isInTheWay = mark === undefined ? mayBeOurs || isUnique : mark.refused !== undefined;
      if (!isInTheWay || resource['description'] === WITNESS) continue;
      const path = toResourcePath(kind, resource);
      // What is in use cannot be deleted. With another text, it is another resource.
      await service.call('DELETE', path).catch(() => service.call('PATCH', path, { description: 'left over' }));
    }
  }
}

async function change(
  service: SharedService,
  stacks: readonly TestStack[],
  resource: TestResource | undefined,
  chance: SeededRandom,
): Promise<void> {
  if (resource === undefined) return;
  const kind = getKind(resource.kind);
  const fields = listChangeable(kind).filter((name) => !kind.fields[name]?.unique);
  const stack = stacks.find((each) => each.includes(resource)) ?? [];
  await changeField(service, { resource, stack }, chance.pickAny(fields) ?? 'description');
}

/** Clears a value that a manifest sets. */
async function clearValue(
  service: SharedService,
  { stacks, resource, chance }: Omit<SharedAccount, 'service'> & { readonly resource: TestResource | undefined },
): Promise<void> {
  if (resource === undefined) return;
  const kind = getKind(resource.kind);
  const fields = listChangeable(kind).filter((name) => name !== 'metadata' && resource.spec[name] !== undefined);
  const field = chance.pickAny(fields);
  if (kind.role !== 'owned' || field === undefined) return;
  const { [field]: _, ...spec } = resource.spec;
  const stack = stacks.find((each) => each.includes(resource)) ?? [];
  await changeField(service, { resource: { ...resource, spec }, stack }, field);
}

function listMarkedResources(service: SharedService) {
  return OWNED_KINDS.flatMap((kind) =>
    (service.resources()[kind.name] ?? []).filter(findOurMark).map((resource) => ({ kind, resource })),
  );
}

async function remove(service: SharedService, chance: SeededRandom): Promise<void> {
  const found = chance.pickAny(listMarkedResources(service));
  if (found !== undefined) await service.call('DELETE', toResourcePath(found.kind, found.resource));
}

/** Deletes the resource with an id if it has our mark. A delete that the service rejects has no effect. */
export async function deleteMarkedResource(service: SharedService, id: string): Promise<string> {
  const found = listMarkedResources(service).find(({ resource }) => resource['id'] === id);
  if (found === undefined) return `others: leave ${id}, which is not ours`;
  return service.call('DELETE', toResourcePath(found.kind, found.resource)).then(
    () => `others: delete ${id}, where a list is about to go on`,
    (error: unknown) => `others: delete ${id}, and are refused: ${String(error).slice(0, 80)}`,
  );
}

/** Another user creates a resource that refers to one of ours, which can then not be deleted. Returns the address of ours, if there is one. */
export async function createDependentResource({
  service,
  chance,
}: Omit<SharedAccount, 'stacks'>): Promise<string | undefined> {
  const found = chance.pickAny(listMarkedResources(service).filter(({ kind }) => isReferable(kind)));
  const mark = found && findOurMark(found.resource);
  if (found === undefined || mark === undefined) return undefined;
  const id = String(found.resource['id']);
  const user = OWNED_KINDS.map((kind) => sampleUser(kind, { of: found.kind, id, chance })).find(Boolean);
  await create(service, user, chance);
  return toAddress(found.kind.name, mark.name);
}

const SAMPLES = 20;

/** A resource of a kind that refers to the id, if the kind has such a field. */
function sampleUser(
  kind: Kind,
  { of, id, chance }: { readonly of: Kind; readonly id: string; readonly chance: SeededRandom },
): TestResource | undefined {
  const options = { seed: chance.int(0, 1e9), numRuns: SAMPLES };
  const specs = fc.sample(arbitrarySpec(kind), options).map((spec) => mapReferences(kind, spec, toOurs(of, id)));
  const spec = specs.find((each) => listReferences(kind, each).some(({ value }) => value === id));
  return spec && { kind: kind.name, name: 'user-of-ours', spec, lifecycle: { protect: false, ignore: [] } };
}

function toOurs({ idPrefix }: Kind, id: string): (reference: Reference) => string {
  return ({ type, value }) => (type.prefixes.includes(idPrefix) ? id : value);
}

/** Other users do not claim our unique values: such a claim blocks an apply. */
async function create(service: SharedService, resource: TestResource | undefined, chance: SeededRandom): Promise<void> {
  if (resource === undefined || getKind(resource.kind).role !== 'owned') return;
  const { fields } = getKind(resource.kind);
  const spec = Object.fromEntries(Object.entries(resource.spec).filter(([name]) => !fields[name]?.unique));
  const metadata = chance.pick(METADATA);
  await createOutsideResource(service, { ...resource, spec }, (user) =>
    metadata(typeof user === 'string' || isJsonObject(user) ? user : ''),
  );
}

const NO_MARK = { protect: false, delivered: true, fields: {} };

const METADATA: readonly [(user: string | JsonObject) => string, ...((user: string | JsonObject) => string)[]] = [
  renderUserMetadata,
  () => '',
  (user) => renderMetadata(user, { ...NO_MARK, stack: 'another-stack', name: 'a' }),
  () => JSON.stringify({ edgewise: { stack: STACK_NAME, name: 'Not a name' } }),
];

/**
 * Creates a second resource with a mark of ours, as a copy of all metadata does. Not of a kind with tokens: a copied mark of a credential
 * claims that its token was delivered, and nothing can disprove that.
 */
async function copy(service: SharedService, chance: SeededRandom): Promise<void> {
  const found = chance.pickAny(listMarkedResources(service));
  if (found === undefined || found.kind.oneTimeFields.length > 0) return;
  const { id: _, created_at: __, state: ___, deletable: ____, ...spec } = found.resource;
  const unique = Object.entries(spec).filter(([name]) => !found.kind.fields[name]?.unique);
  await service.call('POST', found.kind.path, Object.fromEntries(unique));
}

/** Removes our mark, or replaces it with another one. */
async function mark(service: SharedService, chance: SeededRandom): Promise<void> {
  const found = chance.pickAny(listMarkedResources(service));
  if (found === undefined) return;
  await service.call('PATCH', toResourcePath(found.kind, found.resource), { metadata: chance.pick(METADATA)('') });
}
