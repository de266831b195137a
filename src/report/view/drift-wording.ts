import type { Coverage, DriftState } from '../../model/drift.ts';
import { type Subject, toCount, toSubject } from './wording.ts';

/** What forms say of drift. */

/** The title of a comparison. */
export function toDriftTitle(drift: Subject): string {
  return `Drift of ${toSubject(drift)}`;
}

/** What each state means to a reader. */
export const STATE_HEADINGS: Readonly<Record<Exclude<DriftState, 'in-sync'>, string>> = {
  drifted: 'Changed at the service',
  'drifted-and-pending': 'Changed at the service and in the manifests',
  differs: 'Different; it is unknown who changed it',
  missing: 'Missing: never applied, or deleted at the service',
  unowned: 'Not ours: without the mark of the stack',
  'file-differs': 'In sync, but its file differs',
  pending: 'Changed in the manifests and not applied yet',
  'left-over': 'Ours, but no longer in a manifest',
};

/** Short names of the states. */
export const STATE_LABELS: Readonly<Record<DriftState, string>> = {
  drifted: 'drifted',
  'drifted-and-pending': 'drifted and pending',
  differs: 'different',
  missing: 'missing',
  unowned: 'not ours',
  'file-differs': 'file differs',
  pending: 'pending',
  'left-over': 'left over',
  'in-sync': 'in sync',
};

/** Said of a field that drifted from a saved plan, which stores only its digest. */
export const MOVED = 'changed; the plan does not store the old value';

/** The sum of a comparison in one sentence. */
export function toDriftSummary(counts: Readonly<Record<DriftState, number>>, isInSync: boolean): string {
  const inSync = counts['in-sync'];
  if (isInSync) return `No drift: ${toCount(inSync, 'resource is as it', 'resources are as they')} should be.`;
  const { drifted, 'drifted-and-pending': both, differs, missing, unowned, pending, 'left-over': leftOver } = counts;
  const drift = [
    `${drifted + both} drifted`,
    ...(differs === 0 ? [] : [`${differs} different`]),
    `${missing} missing`,
    ...(unowned === 0 ? [] : [`${unowned} not ours`]),
    ...(counts['file-differs'] === 0 ? [] : [`${counts['file-differs']} with a file that differs`]),
  ];
  return `${[...drift, `${pending + both} pending`, `${leftOver} left over`].join(', ')}; ${inSync} in sync.`;
}

type Counts = readonly (readonly [word: string, number: number])[];

/** How much of what is live somebody manages. */
export function toCoverageSentence(
  coverage: Coverage,
  { unmanaged, foreign }: { readonly unmanaged: Counts; readonly foreign: Counts },
): string {
  const list = (counts: Counts): string => counts.map(([word, number]) => `${word} ${number}`).join(', ');
  const others = coverage.foreign === 0 ? '' : `, ${coverage.foreign} of other stacks (${list(foreign)})`;
  const nobodys = coverage.unmanaged === 0 ? '' : ` (${list(unmanaged)})`;
  const percent = `${Math.floor(coverage.share * 100)} %`;
  return `Live resources: ${coverage.owned} ours${others}, ${coverage.unmanaged} unmanaged${nobodys}: ${percent} managed.`;
}
