import type { Action } from '../model/change.ts';
import { doesName, type Policy } from './policy.ts';
import type { PolicySubject } from './subject.ts';

/** Whether a policy is about a subject. What a plan leaves as it is, no policy is about. */
export function isAbout(policy: Policy, subject: PolicySubject, stack: string): boolean {
  const { danger, labels = {}, stacks } = policy.document.match;
  const { kind, action, dangers } = subject;
  return (
    policy.kinds.has(kind) &&
    isAboutAction(policy, action) &&
    (danger === undefined || danger.some((name) => dangers.includes(name))) &&
    Object.entries(labels).every(([name, value]) => hasLabel(subject.labels, name, value)) &&
    (stacks === undefined || stacks.some((pattern) => isMatch(pattern, stack)))
  );
}

/**
 * Without a list of actions: a rule that names what a manifest says is about changes after which something is there; one that names
 * only what was there before, about those before which something was.
 */
function isAboutAction(policy: Policy, action: PolicySubject['action']): boolean {
  const { actions } = policy.document.match;
  if (action === 'no-op') return false;
  if (action === undefined) return actions === undefined || STAYS.every((one) => actions.includes(one));
  if (actions !== undefined) return actions.includes(action);
  if (MANIFEST.some((variable) => doesName(policy, variable))) return !GOES.has(action);
  return !doesName(policy, 'before') || action !== 'create';
}

/** What a manifest may turn out to be in a plan. */
const STAYS: readonly Action[] = ['create', 'update'];

/** Variables that have nothing in them when there is no manifest. */
const MANIFEST = ['after', 'labels', 'annotations', 'change.place'];

/** After these a resource is not there, or not ours. */
const GOES: ReadonlySet<Action> = new Set(['delete', 'release']);

function hasLabel(labels: PolicySubject['labels'], name: string, wanted: string | readonly string[]): boolean {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return value !== undefined && (typeof wanted === 'string' ? value === wanted : wanted.includes(value));
}

/** `*` stands for any text. Compared part for part, since a pattern is not to be trusted with a regular expression. */
function isMatch(pattern: string, name: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return name === start;
  if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false;
  let at = start.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - end.length;
}
