import type { CelValues } from '../expressions/cost.ts';
import { parseDurationMs } from '../kinds/duration.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { getAddressName } from '../model/address.ts';
import { type Change, formatChangeAddress, isProtected } from '../model/change.ts';
import { assertJsonObject, type JsonObject, omitUndefined } from '../model/json.ts';
import type { Place } from '../model/place.ts';
import { toFileJson } from '../model/secret-value.ts';
import type { DesiredResource, FieldPath, Spec } from '../model/state.ts';
import { formatTokenNote } from '../model/token-sink.ts';
import { nameReferencesInFinding, nameReferencesInSpec, type ReferenceNames } from './reference-names.ts';
import { addMissingPolicyFields } from './vocabulary.ts';

/** A change or a manifest that policies check. */
export interface PolicySubject {
  readonly kind: string;
  /** `undefined` if a manifest is checked without a plan. */
  readonly action: Change['action'] | undefined;
  /** The name and the group of each danger of the change. */
  readonly dangers: readonly string[];
  /** As shown to the user: `Kind/name`, or `Kind/name@id` for a duplicate. */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Returns the position of a path in the manifest. `undefined` if there is no manifest. Parses the manifest again. */
  readonly locate: (path: FieldPath) => Place | undefined;
  readonly values: CelValues;
}

/** The values that are the same for all subjects of a run. */
export interface PolicyRunContext {
  readonly stack: { readonly name: string } & Added;
  /** The value of the variable `plan`, as in the JSON of the plan. Fields may be missing. */
  readonly plan: JsonObject;
  readonly now: Date;
}

type Added = Pick<DesiredResource, 'labels' | 'annotations'>;

/** What is known of a change. `resource`: the manifest of the changed resource. `undefined` if it has none. */
interface ChangeFacts {
  readonly resource: DesiredResource | undefined;
  readonly names: ReferenceNames;
}

/** Creates the subject for a change. */
export function createChangeSubject(
  change: Change,
  { resource, names }: ChangeFacts,
  scene: PolicyRunContext,
): PolicySubject {
  const { kind, action, address, dangers = [], differences, token, notes = [], reason = '', duplicateOf = '' } = change;
  const { labels = {}, annotations = {} } = resource ?? {};
  const table = getKind(kind);
  const shown: JsonObject = {
    address,
    kind,
    name: getAddressName(address),
    id: change.live?.id ?? '',
    duplicateOf,
    retiresAt: change.retiresAt ?? '',
    action,
    reason,
    origin: toOrigin(change),
    protect: isProtected(change),
    validForMs: change.validForMs ?? 0,
    dangers: dangers.map((danger) => nameReferencesInFinding(table, omitUndefined(danger), names)),
    differences: differences.map((one) => nameReferencesInFinding(table, omitUndefined(one), names)),
    notes: [...(token === undefined ? [] : [formatTokenNote(token)]), ...notes],
    ...toSubjectPlace(resource?.locate()),
  };
  const before = nameReferencesInSpec(table, change.live?.spec ?? {}, names);
  const after = nameReferencesInSpec(table, change.desired ?? {}, names);
  return {
    kind,
    action,
    dangers: dangers.flatMap(({ danger, group }) => [danger, group]),
    address: formatChangeAddress(change),
    labels,
    locate: (path) => resource?.locate(path),
    values: createCelValues(
      { change: toPolicyValue(shown), before: toPolicyValue(before), after: toPolicyValue(after), labels, annotations },
      scene,
    ),
  };
}

/** Creates the subject for a manifest that is checked without a plan. `after`: its spec in normal form. */
export function createManifestSubject(resource: DesiredResource, after: Spec, scene: PolicyRunContext): PolicySubject {
  const { address, kind, name, lifecycle, labels, annotations } = resource;
  const validForMs = parseDurationMs(String(lifecycle.settings['valid_for'] ?? '')) ?? 0;
  const change = {
    address,
    kind,
    name,
    protect: lifecycle.protect,
    validForMs,
    ...toSubjectPlace(resource.locate()),
  };
  const values = createCelValues({ change, before: {}, after: toPolicyValue(after), labels, annotations }, scene);
  return { kind, action: undefined, dangers: [], address, labels, locate: (path) => resource.locate(path), values };
}

/**
 * What is concealed is a map, as in the JSON of a plan: `{"$secret": "${secret:NAME}"}`. So a comparison with a text is
 * false, or refuses the plan, and no text of a manifest equals it.
 */
function toPolicyValue(value: JsonObject): JsonObject {
  return assertJsonObject(toFileJson(value));
}

/** Creates the values of all variables, in the form of the JSON of a plan. Missing fields of `change`, `plan` and `stack` get empty values. */
export function createCelValues(
  { change, before, after, labels, annotations }: Added & Readonly<Record<'change' | 'before' | 'after', JsonObject>>,
  { stack, plan, now }: PolicyRunContext,
): CelValues {
  return {
    change: addMissingPolicyFields('Change', change),
    before,
    after,
    labels,
    annotations,
    plan: addMissingPolicyFields('Plan', plan),
    stack: addMissingPolicyFields('Stack', { ...stack }),
    now,
  };
}

function toSubjectPlace(start: Place | undefined): JsonObject {
  return start === undefined ? {} : { place: { file: start.file, line: start.line, column: start.column } };
}

/**
 * Returns the common origin of all differences, `both` if their origins differ, or an empty string if there are no
 * differences.
 */
function toOrigin({ differences }: Change): string {
  const [first = '', ...others] = new Set(differences.map(({ origin }) => origin));
  return others.length === 0 ? first : 'both';
}
