import { normalizeSpec } from '../kinds/normalize.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { DesiredState } from '../model/state.ts';
import { evaluatePolicies } from './evaluate.ts';
import type { Policy } from './policy.ts';
import { toResourceSubject } from './subject.ts';
import { toDiagnostic } from './tell-findings.ts';

/** What policies say to manifests: those that ask for nothing which only a plan knows. A resource need not change to be looked at. */
export function checkManifests(
  { stack, resources }: DesiredState,
  policies: readonly Policy[],
  now: Date,
): readonly Diagnostic[] {
  const asked = policies.filter(isStatic);
  if (asked.length === 0) return [];
  const { name, labels, annotations } = stack;
  const scene = { stack: { name, labels, annotations }, plan: {}, now };
  const subjects = [...resources.values()].map((resource) =>
    toResourceSubject(resource, normalizeSpec(getKind(resource.kind), resource.spec), scene),
  );
  return evaluatePolicies(asked, subjects, scene).map(toDiagnostic);
}

/** Whether a policy can be evaluated with a manifest alone. */
function isStatic({ document, names }: Policy): boolean {
  return document.match.danger === undefined && names.every((name) => STATIC.some((known) => isWithin(name, known)));
}

function isWithin(name: string, known: string): boolean {
  return name === known || name.startsWith(`${known}.`);
}

/** What is known without a plan. */
const STATIC = [
  'after',
  'labels',
  'annotations',
  'stack',
  'now',
  'change.address',
  'change.kind',
  'change.name',
  'change.protect',
  'change.validForMs',
  'change.place',
];
