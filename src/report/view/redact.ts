import { listOneTimeFields } from '../../kinds/kind.ts';
import { findKind, KINDS } from '../../kinds/tables/registry.ts';
import type { Change, Difference } from '../../model/change.ts';
import type { Drift } from '../../model/drift.ts';
import type { Plan, Write } from '../../model/plan.ts';
import type { Spec } from '../../model/state.ts';

/** The plan without the fields that only the response to a creation shows, wherever they might have got into it. Every renderer starts with it. */
export function redactPlan(plan: Plan): Plan {
  return { ...plan, changes: plan.changes.map(redactChange), writes: plan.writes.map(redactWrite) };
}

/** A comparison without them. */
export function redactDrift(drift: Drift): Drift {
  return { ...drift, resources: drift.resources.map((one) => ({ ...one, differences: redactDifferences(one) })) };
}

function redactDifferences({ kind, differences }: Pick<Change, 'kind' | 'differences'>): readonly Difference[] {
  const secrets = listSecrets(kind);
  if (secrets.length === 0) return differences;
  return differences.filter(({ path }) => !secrets.some((name) => isInside(path, name)));
}

function redactChange(change: Change): Change {
  const secrets = listSecrets(change.kind);
  if (secrets.length === 0) return change;
  const { live, desired } = change;
  return {
    ...change,
    differences: redactDifferences(change),
    ...(live?.spec !== undefined && { live: { ...live, spec: redactSpec(live.spec, secrets) } }),
    ...(desired !== undefined && { desired: redactSpec(desired, secrets) }),
  };
}

/** A write without them. */
function redactWrite(write: Write): Write {
  const secrets = listSecrets(write.kind);
  if (secrets.length === 0) return write;
  const { body, mark } = write;
  return {
    ...write,
    ...(body !== undefined && { body: redactSpec(body, secrets) }),
    ...(mark !== undefined && { mark: { ...mark, pending: redactSpec(mark.pending, secrets) } }),
  };
}

/** Of a kind that is not known, what any kind keeps secret. */
function listSecrets(kindName: string): readonly string[] {
  const kind = findKind(kindName);
  return kind === undefined ? KINDS.flatMap(listOneTimeFields) : listOneTimeFields(kind);
}

function isInside(path: string, name: string): boolean {
  return path.match(/\w+/)?.[0] === name;
}

function redactSpec(spec: Spec, secrets: readonly string[]): Spec {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !secrets.includes(name)));
}
