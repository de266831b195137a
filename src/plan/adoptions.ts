import { getKind } from '../kinds/tables/registry.ts';
import { type Address, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { once } from '../model/once.ts';
import type { DesiredResource, FieldPath, LiveResource, LiveState } from '../model/state.ts';
import { compareBearers } from './compare-bearers.ts';

/** Whose resources a plan may take. */
export interface Ownership {
  readonly stack: string;
  /** Other stacks whose resources may be taken over. */
  readonly takeOver: readonly string[];
}

/** What a manifest without a resource takes over: a resource, nothing, or nothing with a warning; or an error that says why it cannot. */
export type Adoption = LiveResource | Diagnostic | undefined;

/** What manifests without a resource take over. Costs the same for each manifest, however much is live. */
export class Adoptions {
  readonly #ownership: Ownership;
  // Most plans take over nothing.
  readonly #byId: () => ReadonlyMap<string, LiveResource>;
  /** By the address in the mark. */
  readonly #marked: () => ReadonlyMap<Address, readonly LiveResource[]>;

  constructor({ resources }: Pick<LiveState, 'resources'>, ownership: Ownership) {
    const listAll = () => [...resources.values()].flat();
    this.#ownership = ownership;
    this.#byId = once(() => new Map(listAll().map((one) => [toKey(one.kind, one.id), one])));
    this.#marked = once(() => {
      const marked = listAll().filter(({ mark }) => mark !== undefined);
      return Map.groupBy(marked, ({ kind, mark }) => toAddress(kind, mark?.name ?? ''));
    });
  }

  /**
   * The resource that a manifest takes over: the one with the id that it names or, of a stack that may be taken over, the one of its own
   * kind and name. What the id named may be gone: the manifest still describes what should exist, so that is a warning.
   */
  find(resource: DesiredResource): Adoption {
    const { adopt } = resource.lifecycle;
    const found = adopt === undefined ? undefined : this.#byId().get(toKey(resource.kind, adopt));
    if (found !== undefined) return accept(resource, found, this.#ownership);
    return (
      this.#findHandedOver(resource) ??
      this.#findByName(resource) ??
      (adopt === undefined ? undefined : toMissing(resource, adopt))
    );
  }

  /** Of several with one mark the one that its own stack would keep. */
  #findHandedOver(resource: DesiredResource): Adoption {
    const { takenFrom } = resource.lifecycle;
    if (takenFrom === undefined) return undefined;
    const bearing = this.#bearing(resource.kind, takenFrom.name).filter(({ mark }) => mark?.stack === takenFrom.stack);
    const kind = getKind(resource.kind);
    const [first] = bearing.toSorted((left, right) => compareBearers(kind, resource, { left, right }));
    const takeOver = [...this.#ownership.takeOver, takenFrom.stack];
    return first && accept(resource, first, { ...this.#ownership, takeOver });
  }

  #findByName(resource: DesiredResource): Adoption {
    const same = this.#bearing(resource.kind, resource.name).filter(
      ({ mark }) => mark !== undefined && isOffered(mark.stack, this.#ownership),
    );
    const [first, ...more] = same;
    if (first === undefined || more.length === 0) return first && accept(resource, first, this.#ownership);
    const ids = same.map(({ id }) => id).sort();
    return refuse(resource, {
      message: `${ids.join(', ')} all have its name in the stacks of --take-over`,
      remedy: 'Name the one that you mean by its id, in lifecycle.adopt.',
    });
  }

  #bearing(kind: string, name: string): readonly LiveResource[] {
    return this.#marked().get(toAddress(kind, name)) ?? [];
  }
}

/** Ids are looked for within a kind only. */
function toKey(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** Warnings on `--take-over` without effect: otherwise a misspelled stack name would go unnoticed and new resources would be created. */
export function listIdleTakeOvers(
  adopted: readonly LiveResource[],
  live: LiveState,
  ownership: Ownership,
): readonly Diagnostic[] {
  const taken = new Set(adopted.map(({ mark }) => mark?.stack));
  const all = [...live.resources.values()].flat();
  return ownership.takeOver
    .filter((stack) => !taken.has(stack))
    .map((stack) => {
      const bearing = all.flatMap(({ kind, mark }) => (mark?.stack === stack ? [toAddress(kind, mark.name)] : []));
      const [why, remedy] = explainIdle({ stack, bearing: bearing.sort() }, ownership);
      const message = `--take-over ${stack} takes nothing over: ${why}`;
      return { code: 'take-over-idle', severity: 'warning', message, remedy };
    });
}

/** Addresses that a warning lists. */
const MAX_LISTED = 3;

function explainIdle(
  { stack, bearing }: { readonly stack: string; readonly bearing: readonly string[] },
  { stack: own }: Ownership,
): readonly [why: string, remedy: string] {
  if (stack === own) return ['it is the stack of these manifests', 'Name the stack that owns the resources now.'];
  if (bearing.length === 0)
    return [
      'no resource that was read carries its mark',
      'Correct the name. If everything is already moved, remove the flag.',
    ];
  const more = bearing.length > MAX_LISTED ? ` and ${bearing.length - MAX_LISTED} more` : '';
  return [
    `no new manifest has the kind and name of one of its resources (${bearing.slice(0, MAX_LISTED).join(', ')}${more})`,
    'Give a manifest that kind and name, or state the id of the resource in lifecycle.adopt.',
  ];
}

/** Protection by the other stack stays until somebody removes it in the manifest on purpose. */
function accept(resource: DesiredResource, found: LiveResource, ownership: Ownership): LiveResource | Diagnostic {
  const { mark, id } = found;
  if (mark === undefined) return found;
  if (!isOffered(mark.stack, ownership)) return toRefusal(resource, found, ownership);
  if (!mark.protect || resource.lifecycle.protect) return found;
  return refuse(resource, {
    message: `${id} is protected by the stack ${mark.stack}, and would lose its protection`,
    remedy: 'Add lifecycle.protect: true to the manifest. Once the resource is in this stack, you can remove it.',
  });
}

function isOffered(stack: string, ownership: Ownership): boolean {
  return stack !== ownership.stack && ownership.takeOver.includes(stack);
}

function toRefusal(resource: DesiredResource, { id, mark }: LiveResource, { stack }: Ownership): Diagnostic {
  const owner = toAddress(resource.kind, mark?.name ?? '');
  if (mark?.stack === stack)
    return refuse(resource, {
      message: `${id} belongs to ${owner} of this stack`,
      remedy: `If ${owner} was renamed, use lifecycle.renamed_from: ${mark.name} instead.`,
    });
  return refuse(resource, {
    message: `${id} belongs to ${owner} of the stack ${mark?.stack}`,
    remedy: `To move it into this stack, add --take-over ${mark?.stack}.`,
  });
}

function toMissing(resource: DesiredResource, id: string): Diagnostic {
  return {
    code: 'adopt-missing',
    severity: 'warning',
    message: `${resource.address}: there is no ${resource.kind} ${id} to adopt, so an apply creates a new one`,
    remedy: 'If the id is wrong, correct it before you apply. If the resource was deleted, remove the line.',
    address: resource.address,
    place: resource.locate(['lifecycle', 'adopt']),
  };
}

function refuse(
  resource: DesiredResource,
  { message, remedy }: { readonly message: string; readonly remedy: string },
): Diagnostic {
  return {
    code: 'adopt-refused',
    severity: 'error',
    message: `${resource.address}: ${message}`,
    remedy,
    address: resource.address,
    place: resource.locate(toPath(resource.lifecycle)),
  };
}

function toPath({ adopt, takenFrom }: DesiredResource['lifecycle']): FieldPath {
  if (adopt !== undefined) return ['lifecycle', 'adopt'];
  return takenFrom === undefined ? ['metadata', 'name'] : ['lifecycle', 'renamed_from'];
}
