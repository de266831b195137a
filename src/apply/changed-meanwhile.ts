import { fillUnknown } from '../kinds/fill-unknown.ts';
import { listSpecFields } from '../kinds/kind.ts';
import { readResource } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertNever } from '../model/errors.ts';
import { isSameJson, type JsonObject } from '../model/json.ts';
import { UNMANAGED } from '../model/mark.ts';
import type { Plan } from '../model/plan.ts';
import type { AdoptWrite, GiveUpWrite, ReleaseWrite, UpdateWrite, Write } from '../model/write.ts';

/**
 * What somebody else changed between the plan and a write, as the answer to the write shows it: fields that the plan does not send and that
 * differ from what it read. Ignored fields do not count. Empty for modules with a path of their own, whose answer shows nothing else.
 */
export function findChangedMeanwhile(plan: Plan, write: Patch, answer: JsonObject): Diagnostic | undefined {
  const { address } = write;
  const before = plan.changes.find(({ live }) => live?.id === write.resourceId)?.live;
  if (before?.spec === undefined) return undefined;
  const { spec } = readResource(getKind(write.kind), answer);
  const known = fillUnknown(getKind(write.kind), spec, before.spec);
  const sent = new Set(plan.writes.filter((other) => other.address === address).flatMap(listSent));
  const mark = 'mark' in write ? write.mark : undefined;
  const digests = mark?.fields ?? before.mark?.fields ?? {};
  const changed = listSpecFields(getKind(write.kind))
    .map(([name]) => name)
    .filter((name) => !sent.has(name) && digests[name] !== UNMANAGED)
    .filter((name) => spec[name] !== undefined && before.spec?.[name] !== undefined)
    .filter((name) => !isSameJson(before.spec?.[name] ?? null, known[name] ?? null));
  return changed.length === 0 ? undefined : toWarning(address, changed);
}

/** A write that changes fields of a resource that the plan knew. */
type Patch = UpdateWrite | AdoptWrite | ReleaseWrite | GiveUpWrite;

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
