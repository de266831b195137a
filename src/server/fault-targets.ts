import type { FieldType } from '../kinds/field.ts';
import { OPERATIONS, type Operation, type OperationAction } from '../kinds/operations.ts';
import { suggest } from '../manifest/suggest.ts';
import type { UncodedFinding } from '../model/finding.ts';
import type { FaultRule } from '../model/server-faults.ts';

/** Finds fault rules that can never apply: to no operation of the API, or to none whose response can have the fault. */

/** What a rule can apply to. The action of the OpenAPI document is that of a resource. */
type Target = Pick<Operation, 'method' | 'path'> & Partial<Operation> & { readonly action: OperationAction };

const TARGETS: readonly Target[] = [{ method: 'GET', path: '/openapi.json', action: 'get' }, ...OPERATIONS];

/** Finds the member because of which a rule can never apply. The message follows its path. */
export function findIdleMember(rule: FaultRule): UncodedFinding | undefined {
  const [verb = '*', pattern = '*'] = rule.on.split(' ');
  const [path = '', ...query] = pattern.split('?');
  const atPath = TARGETS.filter((target) => canMatch(path, target.path));
  const matched = atPath.filter(
    ({ method, action }) => (verb === '*' || verb === method) && (query.length === 0 || action === 'list'),
  );
  if (matched.length === 0)
    return { path: ['on'], message: `matches no operation: ${describeNearest(verb, path, atPath)}` };
  const affected = matched.filter(({ action }) => isPossible(rule.fault, action));
  if (affected.length === 0)
    return {
      path: ['fault'],
      message: `is never possible here: \`${rule.fault}\` is for ${GROUPS[rule.fault]?.words}`,
    };
  if (rule.fault !== 'left_out' || rule.fields === undefined) return undefined;
  const names = affected.flatMap(listResponseFields);
  const unknown = rule.fields.findIndex((field) => !names.includes(field));
  return unknown === -1
    ? undefined
    : {
        path: ['fields', unknown],
        message: `is no field of these responses${hint(rule.fields[unknown] ?? '', names)}`,
      };
}

function describeNearest(verb: string, path: string, atPath: readonly Target[]): string {
  const methods = [...new Set(atPath.map(({ method }) => method))];
  if (methods.some((method) => verb === '*' || verb === method)) return 'only lists have a query';
  if (methods.length > 0) return `this path has ${methods.join(', ')}`;
  const near = suggest(path, [...new Set(TARGETS.map((target) => target.path))]);
  return near === undefined ? '`GET /openapi.json` lists the paths' : `did you mean \`${verb} ${near}\`?`;
}

function hint(given: string, known: readonly string[]): string {
  const near = suggest(given, known);
  return near === undefined ? '' : `: did you mean \`${near}\`?`;
}

/** Some actions, and what they are in a message. */
interface ActionGroup {
  readonly actions: readonly OperationAction[];
  readonly words: string;
}

const LISTS: ActionGroup = { actions: ['list'], words: 'lists' };
const WITH_BODIES: ActionGroup = {
  actions: ['create', 'list', 'get', 'update', 'replace-module', 'get-module'],
  words: 'responses with a body',
};
const CHANGES: ActionGroup = {
  actions: ['update', 'delete', 'replace-module', 'delete-module'],
  words: 'requests that change or delete',
};

/** Faults that only some actions can have. */
const GROUPS: Partial<Record<FaultRule['fault'], ActionGroup>> = {
  missing: LISTS,
  no_next: LISTS,
  gone_cursor: LISTS,
  stale: LISTS,
  cut: WITH_BODIES,
  broken_json: WITH_BODIES,
  left_out: WITH_BODIES,
  normalise: WITH_BODIES,
  late_release: CHANGES,
  no_effect: CHANGES,
  cached: { actions: ['create'], words: 'requests that create' },
  cut_metadata: { actions: ['create', 'update'], words: 'requests that create or change a resource' },
};

function isPossible(fault: FaultRule['fault'], action: OperationAction): boolean {
  return GROUPS[fault]?.actions.includes(action) ?? true;
}

function listResponseFields({ kind, module }: Target): readonly string[] {
  if (module !== undefined) return listFieldNames(module.field.type);
  return Object.entries(kind?.fields ?? {}).flatMap(([name, { type, responseName = name }]) => [
    responseName,
    ...listFieldNames(type),
  ]);
}

function listFieldNames(type: FieldType): readonly string[] {
  if (type.type === 'list' || type.type === 'map') return listFieldNames(type.of);
  if (type.type !== 'object') return [];
  return Object.entries(type.fields).flatMap(([name, field]) => [
    field.responseName ?? name,
    ...listFieldNames(field.type),
  ]);
}

/** A part of a pattern. `many`: any number of characters of this sort, also none. */
interface Part {
  readonly text: 'any' | 'segment' | string;
  readonly many: boolean;
}

const isSame = (part: Part, other: Part): boolean =>
  part.text === other.text || fits(part.text, other.text) || fits(other.text, part.text);

function fits(sort: string, text: string): boolean {
  return sort === 'any' || (sort === 'segment' && text !== '/');
}

/** Whether some path matches a pattern of a rule and the path of an operation. */
function canMatch(pattern: string, path: string): boolean {
  const [left, right] = [parsePattern(pattern), parsePattern(path)];
  // `ends[at]`: whether the rest of `left` and the rest of `right` from `at` have a path in common.
  let ends = Array.from({ length: right.length + 1 }, (_, at) => right.slice(at).every(({ many }) => many));
  for (const part of left.toReversed()) {
    const next: boolean[] = [];
    for (let at = right.length; at >= 0; at -= 1) {
      const other = right[at];
      const isLeftOut = part.many && ends[at] === true;
      const isRightOut = other?.many === true && next[at + 1] === true;
      const isShared = other !== undefined && isSame(part, other);
      const after = part.many ? next[at + 1] : other?.many ? ends[at] : ends[at + 1];
      next[at] = isLeftOut || isRightOut || (isShared && after === true);
    }
    ends = next;
  }
  return ends[0] === true;
}

function parsePattern(pattern: string): readonly Part[] {
  return pattern.split(/(\*|\{\w+\})/).flatMap((text): readonly Part[] => {
    if (text === '*') return [{ text: 'any', many: true }];
    if (!text.startsWith('{')) return Array.from(text, (character) => ({ text: character, many: false }));
    return [
      { text: 'segment', many: false },
      { text: 'segment', many: true },
    ];
  });
}
