import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import type { DesiredState } from '../../src/model/state.ts';
import type { ServerSeed } from '../../src/server/index.ts';

/** The resources of an account, by kind. */
type Resources = NonNullable<ServerSeed['resources']>;

/** A resource with the mark of a stack. */
export interface OwnedResource {
  readonly kind: string;
  readonly address: string;
  readonly id: string;
  /** Whether the mark of a credential says that its token was delivered. */
  readonly delivered: boolean;
}

/** The resources with the mark of a stack, each with its address. */
export function listOwned(resources: Resources, stack: string): readonly OwnedResource[] {
  return OWNED_KINDS.flatMap((kind) =>
    (resources[kind.name] ?? []).flatMap((resource) => {
      const { mark } = splitMetadata(String(resource['metadata'] ?? ''));
      const address = `${kind.name}/${mark?.name}`;
      // An old one that `keep_old_for` keeps is no longer the resource of its address.
      if (mark?.stack !== stack || mark.retiring === true) return [];
      return [{ kind: kind.name, address, id: String(resource['id']), delivered: mark.delivered }];
    }),
  );
}

/** The addresses of the owned resources in a desired state, sorted. */
export function listWanted({ resources }: DesiredState): readonly string[] {
  const wanted = [...resources.values()].filter(({ kind }) => getKind(kind).role === 'owned');
  return wanted.map(({ address }) => address).sort();
}

/** The resources of others in the account, by their description. */
export function mapForeignResources(resources: Resources): readonly JsonObject[] {
  return Object.values(resources)
    .flat()
    .filter(({ description }) => description === THEIRS);
}

const THEIRS = 'somebody else’s';

/** Requests of others that create resources, some of them similar to ours. */
export const OTHER_USER_REQUESTS: readonly (readonly [path: string, body: JsonObject])[] = [
  ['/edges/tcp', { description: THEIRS, hostports: ['theirs.example.net:1'] }],
  ['/credentials', { description: THEIRS, metadata: '{"edgewise":{"stack":"theirs","name":"build-agent"}}' }],
];
