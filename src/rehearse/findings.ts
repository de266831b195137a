import type { Change } from '../model/change.ts';
import { toShownChange } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { parsePath } from '../model/field-path.ts';
import type { ApplyResult, Outcome } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredState } from '../model/state.ts';
import { toShownWriteAddress } from '../model/write.ts';
import type { Interim } from './interims.ts';
import type { Twin } from './twin.ts';

/** What a rehearsal found out. */
export interface Rehearsed {
  readonly plan: Plan;
  readonly desired: DesiredState;
  readonly result: ApplyResult;
  readonly twin: Pick<Twin, 'refusals'>;
  /** What a plan after the rehearsal would still do. */
  readonly left: readonly Change[];
  readonly interims: readonly Interim[];
  /** Whether what is in use is deleted by the next apply, since its users are changed behind this plan. */
  readonly isLetGo: (id: string) => boolean;
}

/** Findings for those who approve. */
export function listFindings({ desired, result, twin, left, interims, isLetGo }: Rehearsed): readonly Diagnostic[] {
  const failed = result.outcomes.filter((one) => one.outcome === 'failed');
  const hit = new Set(result.outcomes.flatMap((one) => (one.outcome === 'applied' ? [] : [one.write.address])));
  return [
    ...failed.map((outcome) => toRefusal(outcome, { desired, twin, isLetGo })),
    ...left.filter(({ address }) => !hit.has(address)).map((change) => toLeft(change, desired)),
    ...toInterims(interims, desired),
  ];
}

/** Failures that the interface itself specifies: every service refuses them. For other failures a service may be more liberal than the bundled server. */
const CERTAIN: ReadonlySet<string> = new Set(['already_taken', 'in_use', 'missing_reference']);

function toRefusal(
  { write, message, field }: Extract<Outcome, { readonly outcome: 'failed' }>,
  { desired, twin: { refusals }, isLetGo }: Pick<Rehearsed, 'desired' | 'twin' | 'isLetGo'>,
): Diagnostic {
  const { code, message: said } = refusals.get(message) ?? { code: '', message };
  const address = toShownWriteAddress(write);
  const isCertain = CERTAIN.has(code);
  const waits = code === 'in_use' && write.act === 'delete' && isLetGo(write.resourceId);
  const remedy = isCertain ? (REMEDIES[code] ?? MEND) : `${MEND} Services may be more liberal than the rehearsal.`;
  return {
    code: 'rehearsal-failed',
    severity: isCertain && !waits ? 'error' : 'warning',
    message: `${address}: the service ${isCertain ? 'will' : 'may'} refuse to ${write.id}: ${said}.`,
    remedy: waits ? LATER : remedy,
    address,
    ...toPlace(write.address, desired, field),
  };
}

const MEND = 'Correct the manifest.';
const LATER =
  'Its users are in stacks that are applied behind this one. Run apply again when they no longer refer to it.';
const REMEDIES: Readonly<Record<string, string>> = {
  already_taken: 'Choose another value, or release it where it is held.',
  in_use: 'Remove what refers to it first, or keep it.',
  missing_reference: 'Refer to something that exists.',
};

function toLeft(change: Change, desired: DesiredState): Diagnostic {
  const paths = change.differences.map(({ path }) => path).join(', ');
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${toShownChange(change)}: after this plan, another one would ${change.action} it${paths === '' ? '' : ` (${paths})`}.`,
    remedy: 'Apply, plan again, and read that plan before it is applied.',
    address: toShownChange(change),
    ...toPlace(change.address, desired, change.differences[0]?.path),
  };
}

/** One for each resource, or value of one, and length. */
function toInterims(interims: readonly Interim[], desired: DesiredState): readonly Diagnostic[] {
  const groups = Map.groupBy(interims, ({ address, isValue, subject, writes }) =>
    [address, isValue, subject, writes].join(' '),
  );
  return [...groups.values()].flatMap((group): Diagnostic[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { address, isValue, subject = 'it', writes } = first;
    const what = group.map((one) => one.what).join(', ');
    const time = writes === 1 ? 'one write' : `${writes} writes`;
    const message = isValue
      ? `${address}: for ${time}, nothing has ${what}.`
      : `${address}: for ${time}, ${subject} is there without its ${what}.`;
    const remedy = 'Apply it at a time when that does no harm.';
    return [{ code: 'rehearsal-gap', severity: 'warning', message, remedy, address, ...toPlace(address, desired) }];
  });
}

function toPlace(address: string, { resources }: DesiredState, path?: string): Pick<Diagnostic, 'place'> {
  const resource = resources.get(address as Parameters<typeof resources.get>[0]); // a text that is no address is not found
  if (resource === undefined) return {};
  return { place: resource.locate(path === undefined ? undefined : ['spec', ...(parsePath(path) ?? [])]) };
}
