import { listIgnoredInMark, omitIgnoredParts } from '../kinds/ignored-parts.ts';
import type { Kind } from '../kinds/kind.ts';
import { listDifferentFields } from '../kinds/same-fields.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, isRecordInChange } from '../model/change.ts';
import { listAddressesInCondition } from '../model/conditions.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { listSentFieldNames, type Write } from '../model/write.ts';

/**
 * What the plan says of the resources that a run writes, by which it recognizes what other clients have changed since.
 * The cost per write does not depend on the number of writes.
 */
export class PlannedLiveResources {
  readonly #before: ReadonlyMap<string, PlannedLive>;
  readonly #replaced: ReadonlyMap<string, PlannedLive>;
  readonly #doubtful: ReadonlySet<string>;
  /** The fields that the writes of the plan send, by the id of the resource. */
  readonly #sent = new Map<string, readonly string[]>();

  constructor(plan: Plan) {
    const { changes, writes } = plan;
    this.#doubtful = listAddressesInCondition(plan, 'doubtful');
    this.#replaced = new Map(
      changes.flatMap(({ action, address, live }) =>
        action === 'replace' && live && !isRecordInChange(live) ? [[address, live]] : [],
      ),
    );
    this.#before = new Map(changes.flatMap(({ live }) => (live === undefined ? [] : [[live.id, live]])));
    for (const write of writes) {
      const id = write.ids?.id ?? '';
      this.#sent.set(id, [...(this.#sent.get(id) ?? []), ...listSentFieldNames(write)]);
    }
  }

  /** Whether a resource like the one that the plan creates at an address may have lost its mark at its second write. */
  isDoubtful(address: string): boolean {
    return this.#doubtful.has(address);
  }

  /** The resource that the plan replaces at an address. */
  findReplaced(address: string): PlannedLive | undefined {
    return this.#replaced.get(address);
  }

  /** A resource as it was when the plan was made. `undefined` if the plan creates it. */
  find(id: string): PlannedLive | undefined {
    return this.#before.get(id);
  }

  /**
   * Compares the resource in the response to a write with the same resource in the plan. Returns a warning with the
   * fields that changed although no write of the plan sends them; `undefined` if there are none. Ignored fields are not
   * compared. Writes of attached modules need no check, because their responses contain nothing but the module.
   */
  findConcurrentChange(
    { kind, address, ids, mark }: Write,
    { spec }: Pick<LiveResource, 'spec'>,
  ): Diagnostic | undefined {
    const id = ids?.id ?? '';
    const before = this.#before.get(id);
    if (before?.spec === undefined) return undefined;
    const others = listOthers(getKind(kind), {
      before: before.spec,
      after: spec,
      sent: this.#sent.get(id) ?? [],
      digests: mark?.fields ?? before.mark?.fields ?? {},
    });
    if (others.length === 0) return undefined;
    const what = `${others.join(', ')} changed at the service after the plan was made`;
    const text = `${what}. This apply did not overwrite the new value.`;
    return createConcurrencyWarning(address, text, 'The next plan shows it as drift.');
  }
}

export type PlannedLive = NonNullable<Change['live']>;

interface Compared {
  readonly before: Spec;
  readonly after: Spec;
  readonly sent: readonly string[];
  readonly digests: Readonly<Record<string, string>>;
}

/** Lists the fields that changed although no write of the plan sends them. What is left to others may change. */
function listOthers(kind: Kind, { before, after, sent, digests }: Compared): readonly string[] {
  const ignored = listIgnoredInMark({ fields: digests });
  const [from, to] = [omitIgnoredParts(ignored, before), omitIgnoredParts(ignored, after)];
  return listDifferentFields(kind, from, to).filter(
    (name) => from[name] !== undefined && to[name] !== undefined && !sent.includes(name),
  );
}

/** Warns of something that another client has done during the run. `text`: a sentence about the resource. */
export function createConcurrencyWarning(address: string, text: string, remedy: string): Diagnostic {
  return { code: 'concurrent-change', severity: 'warning', message: `${address}: ${text}`, remedy, address };
}
