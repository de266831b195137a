import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import { listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toAddress } from '../model/address.ts';
import type { Action } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Finding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type {
  ExpectedResult,
  PolicyCase,
  PolicyCaseInput,
  PolicyCaseResult,
  PolicyTestDocument,
  PolicyTestResults,
} from '../model/policy.ts';
import { appliesTo, evaluatePolicies, type Policy } from './evaluate.ts';
import { createCelValues, type PolicyRunContext, type PolicySubject } from './subject.ts';
import { KIND_INDEPENDENT_POLICY_TYPES, listFieldsMissingFromVocabulary, listVisibleFields } from './vocabulary.ts';

/**
 * Runs the test cases of policies. A case is evaluated like a change of a plan. `diagnostics`: errors for tests whose
 * policy does not exist.
 */
export function runPolicyCases(
  tests: readonly PolicyTestDocument[],
  policies: readonly Policy[],
): PolicyTestResults & { readonly diagnostics: readonly Diagnostic[] } {
  const byName = new Map(policies.map((policy) => [policy.document.name, policy]));
  const tested = new Set(tests.map(({ policy }) => policy));
  return {
    cases: tests.flatMap((test) => {
      const policy = byName.get(test.policy);
      return policy === undefined ? [] : test.cases.map((one, index) => runCase(test, policy, { one, index }));
    }),
    untested: [...byName.keys()].filter((name) => !tested.has(name)),
    diagnostics: tests.filter(({ policy }) => !byName.has(policy)).map(createMissing),
  };
}

function createMissing({ name, policy, locate }: PolicyTestDocument): Diagnostic {
  return {
    code: 'policy-invalid',
    severity: 'error',
    message: `PolicyTest/${name}: there is no policy ${policy}`,
    remedy: 'Correct the name, or give the path of the policy too.',
    address: `PolicyTest/${name}`,
    place: locate(['spec', 'policy']),
  };
}

function runCase(
  { policy: name, locate }: PolicyTestDocument,
  policy: Policy,
  { one, index }: { readonly one: PolicyCase; readonly index: number },
): PolicyCaseResult {
  const failure = findUnknownGiven(one.given) ?? findCaseFailure(policy, one);
  const place = locate(['spec', 'cases', index, 'name']);
  return { policy: name, name: one.name, place, failure };
}

/**
 * Returns an error if `given` contains an unknown field, or a reference that no expression sees. A misspelled field would
 * otherwise be ignored, and the case would not test what its author meant.
 */
function findUnknownGiven({
  change,
  before = {},
  after = {},
  plan = {},
  stack = {},
}: PolicyCaseInput): string | undefined {
  const kind = getKind(String(change['kind']));
  const fields = new Set(listVisibleFields(kind).map(([name]) => name));
  const inSpecs = Object.entries({ before, after }).flatMap(([variable, spec]) =>
    Object.keys(spec).flatMap((name) => (fields.has(name) ? [] : [`${variable}.${name}`])),
  );
  const unknown = [
    ...inSpecs,
    ...listFieldsMissingFromVocabulary('change', KIND_INDEPENDENT_POLICY_TYPES.Change, withDangers(change)),
    ...listFieldsMissingFromVocabulary('plan', KIND_INDEPENDENT_POLICY_TYPES.Plan, plan),
    ...listFieldsMissingFromVocabulary('stack', KIND_INDEPENDENT_POLICY_TYPES.Stack, stack),
  ];
  if (unknown.length > 0) return `given.${unknown[0]} is not a field of ${kind.name} or of a plan`;
  const [external] = [before, after]
    .flatMap((spec) => listReferences(kind, spec))
    .filter(({ value }) => value.startsWith('External/'));
  return external && `given names ${external.value}, but an expression sees the id of an External`;
}

function findCaseFailure(policy: Policy, { given, expect, message }: PolicyCase): string | undefined {
  const scene = createScene(given);
  const subject = createCaseSubject(given, scene);
  const [{ finding, isFailure } = {}] = evaluatePolicies([policy], [subject], scene);
  const got = finding === undefined ? toSilence(appliesTo(policy, subject, scene.stack.name)) : toExpectation(finding);
  const said = finding === undefined ? '' : `: ${finding.message}`;
  if (got !== expect) return `expected ${expect}, got ${got}${said}`;
  // A policy that cannot be evaluated refuses every change. A case passes with such a refusal only if it expects the
  // message of the refusal.
  if (isFailure === true && message === undefined) return `expected a refusal by the rule, got a failure${said}`;
  if (message !== undefined && !(finding?.message ?? '').includes(message))
    return `expected a message with \`${message}\` in it, got${said === '' ? ' none' : said}`;
  return undefined;
}

function toSilence(isAsked: boolean): ExpectedResult {
  return isAsked ? 'allow' : 'no-match';
}

function toExpectation({ severity }: Finding): ExpectedResult {
  return severity === 'error' ? 'refuse' : 'warn';
}

/** The value of `now` in a case that sets none: fixed, so that the result does not depend on the date. A Thursday. */
const START = '2026-01-01T00:00:00Z';

function createScene({ stack = {}, plan = {}, now = START }: PolicyCaseInput): PolicyRunContext {
  const { name, labels, annotations } = stack;
  return {
    stack: {
      name: typeof name === 'string' ? name : '',
      labels: toExpectedTexts(labels),
      annotations: toExpectedTexts(annotations),
    },
    plan,
    now: new Date(now),
  };
}

function toExpectedTexts(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}

function createCaseSubject(
  { change, before, after, labels = {}, annotations = {} }: PolicyCaseInput,
  scene: PolicyRunContext,
): PolicySubject {
  const full = withDangers(change);
  const kind = getKind(String(change['kind']));
  const name = String(change['name'] ?? 'it');
  const address = String(change['address'] ?? toAddress(kind.name, name));
  const toNormal = (spec: JsonObject | undefined): JsonObject =>
    spec === undefined ? {} : canonical(kind, spec, AS_WRITTEN);
  const values = createCelValues(
    { change: { ...full, name, address }, before: toNormal(before), after: toNormal(after), labels, annotations },
    scene,
  );
  return {
    kind: kind.name,
    action: change['action'] as Action, // the schema of the document has checked the value
    dangers: listDangersOfCase(full).flatMap(({ danger, group = '' }) => [String(danger), String(group)]),
    address,
    labels,
    locate: () => undefined,
    values,
  };
}

/** Replaces each danger that is given as a name by an object with that name. */
function withDangers(change: JsonObject): JsonObject {
  return change['dangers'] === undefined ? change : { ...change, dangers: listDangersOfCase(change) };
}

function listDangersOfCase({ dangers }: JsonObject): readonly JsonObject[] {
  const all = isJsonArray(dangers) ? dangers : [];
  return all.map((one) => (isJsonObject(one) ? one : { danger: one }));
}
