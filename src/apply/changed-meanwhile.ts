import { fillUnknown } from '../kinds/fill-unknown.ts';
import { listSpecFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Change } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertNever } from '../model/errors.ts';
import { isSameJson } from '../model/json.ts';
import { UNMANAGED } from '../model/mark.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource } from '../model/state.ts';
import type { AdoptWrite, GiveUpWrite, ReleaseWrite, UpdateWrite, Write } from '../model/write.ts';

/** Finds what somebody else changed between the plan and a write. Costs the same for each write, however many the plan has. */
export class Meanwhile {
  readonly #before: ReadonlyMap<string, PlannedLive>;
  readonly #sent = new Map<string, string[]>();

  constructor({ changes, writes }: Plan) {
    this.#before = new Map(changes.flatMap(({ live }) => (live === undefined ? [] : [[live.id, live]])));
    for (const write of writes) {
      const others = this.#sent.get(write.address);
      if (others === undefined) this.#sent.set(write.address, [...listSent(write)]);
      else others.push(...listSent(write));
    }
  }

  /**
   * What the answer to a write shows: fields that the plan does not send and that differ from what it read. Ignored fields do not count. Empty for
   * modules with a path of their own, whose answer shows nothing else.
   */
  find(write: Patch, { spec }: Pick<LiveResource, 'spec'>): Diagnostic | undefined {
    const before = this.#before.get(write.resourceId);
    if (before?.spec === undefined) return undefined;
    const known = fillUnknown(getKind(write.kind), spec, before.spec);
    const sent = new Set(this.#sent.get(write.address));
    const mark = 'mark' in write ? write.mark : undefined;
    const digests = mark?.fields ?? before.mark?.fields ?? {};
    const changed = listSpecFields(getKind(write.kind))
      .map(([name]) => name)
      .filter((name) => !sent.has(name) && digests[name] !== UNMANAGED)
      .filter((name) => spec[name] !== undefined && before.spec?.[name] !== undefined)
      .filter((name) => !isSameJson(before.spec?.[name] ?? null, known[name] ?? null));
    return changed.length === 0 ? undefined : toWarning(write.address, changed);
  }
}

/** A live resource as a change of a plan knows it. */
type PlannedLive = NonNullable<Change['live']>;

/** A write that changes fields of a resource that the plan knew. */
export type Patch = UpdateWrite | AdoptWrite | ReleaseWrite | GiveUpWrite;

function listSent(write: Write): readonly string[] {
  switch (write.act) {
    case 'update':
    case 'adopt':
      return [...Object.keys(write.body), ...(write.mark === undefined ? [] : ['metadata'])];
    case 'give-up':
    case 'release':
      return Object.keys(write.body);
    case 'set-module':
    case 'remove-module':
      return [write.module];
    case 'create':
    case 'deliver':
    case 'deliver-again':
    case 'delete':
      return [];
    default:
      return assertNever(write);
  }
}

function toWarning(address: string, fields: readonly string[]): Diagnostic {
  return {
    code: 'changed-meanwhile',
    severity: 'warning',
    message: `${address}: somebody changed ${fields.join(', ')} after the plan and before this write, which left that alone.`,
    remedy: 'The next plan shows it as drift.',
    address,
  };
}
