import { listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { listMarkedFields } from '../kinds/mark-fields.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { LiveResource, LiveState, Spec } from '../model/state.ts';
import type { Decision } from './decide.ts';
import { diffSpecs } from './diff.ts';
import { toLifecycleLine } from './lifecycle-line.ts';

/**
 * Finds the unmarked live resource that matches a spec: it has the same unique values or, for kinds without any, the same fields.
 * Somebody removed its mark or made it by hand. Metadata is not compared, and a spec with only defaults matches nothing.
 * `undefined`: there is none, or more than one.
 */
export type FindTwin = (kind: Kind, normal: Spec) => LiveResource | undefined;

/** Finds twins among what has no manifest, which is listed once. `taken`: ids of resources that have one. */
export function createFindTwin({ resources }: LiveState, taken: ReadonlySet<string | undefined>): FindTwin {
  const isFree = ({ id, mark }: LiveResource): boolean => mark === undefined && !taken.has(id);
  const free = new Map([...resources].map(([kind, members]) => [kind, members.filter(isFree)]));
  return (kind, normal) => {
    const twins = (free.get(kind.name) ?? []).filter(({ spec }) => isTwin(kind, normal, spec));
    return twins.length === 1 ? twins[0] : undefined;
  };
}

function isTwin(kind: Kind, normal: Spec, live: Spec): boolean {
  const claims = listKeys(kind, normal);
  if (claims !== '') return listKeys(kind, live) === claims;
  const isTelling = listMarkedFields(kind, normal).some((name) => name !== METADATA);
  return isTelling && diffSpecs(kind, live, normal).every(({ field }) => field === METADATA);
}

/** The field that the mark stands in. */
const METADATA = 'metadata';

function listKeys(kind: Kind, spec: Spec): string {
  return listClaims(kind, spec)
    .map(({ key }) => key)
    .sort()
    .join('\n');
}

/** Warnings on creates for which a matching unmarked resource exists. Conflicts of unique values and unreadable marks have their own diagnostics. */
export function listTwinHints(decisions: readonly Decision[], live: LiveState): readonly Diagnostic[] {
  const findTwin = createFindTwin(live, new Set(decisions.map(({ pair }) => pair.live?.id)));
  return decisions.flatMap(({ action, pair, form }): readonly Diagnostic[] => {
    const { address, kind, desired } = pair;
    if (action !== 'create' || form === undefined || desired === undefined) return [];
    if (desired.lifecycle.adopt !== undefined || listKeys(kind, form.normal) !== '') return [];
    const twin = findTwin(kind, form.normal);
    if (twin === undefined || twin.markTrouble !== undefined) return [];
    return [
      {
        code: 'adopt-maybe',
        severity: 'warning',
        message: `${address} would be created beside ${twin.id}, which has the same fields and no mark`,
        remedy: `If it is the same resource, adopt it: ${toLifecycleLine(desired, { name: 'adopt', value: twin.id })}`,
        address,
        place: desired.locate(['metadata', 'name']),
      },
    ];
  });
}
