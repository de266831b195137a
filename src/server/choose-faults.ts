import type { HttpRequest } from '../model/http.ts';
import { hashSha256 } from '../model/json.ts';
import type { FaultRule, ServerFaults } from '../model/server-faults.ts';
import { parseNumberRangeOrEmpty } from '../schemas/seed.ts';

/** A fault that applies to a request, and the random numbers for the fault. */
export interface ChosenFault<Rule extends FaultRule = FaultRule> {
  readonly rule: Rule;
  /**
   * Returns a number from 0 up to, but not including, 1. It depends only on the seed, the rule, how many requests have
   * matched the rule so far, and `purpose`.
   */
  readonly random: (purpose: string) => number;
}

/** The faults of one request: a delay and one other fault. `undefined`: no such fault applies. */
export interface ChosenFaults {
  readonly latency: ChosenFault<LatencyRule> | undefined;
  readonly fault: ChosenFault<NonLatencyRule> | undefined;
}

export type LatencyRule = Extract<FaultRule, { fault: 'latency' }>;
export type NonLatencyRule = Exclude<FaultRule, LatencyRule>;

/**
 * Creates a function that chooses the faults of a request. Each rule counts all requests that it matches, even if
 * another rule applies, so that the rules do not depend on each other. Rules match the part of the path below
 * `basePath`.
 */
export function createFaultChooser({
  seed = 0,
  rules,
}: ServerFaults): (request: HttpRequest, basePath: string) => ChosenFaults {
  const turns = rules.map((rule, index) => createTurns(rule, `${seed} ${index}`));
  return (request, basePath) => {
    const subject = toSubject(request, basePath);
    const due = turns.flatMap((turn) => turn.next(subject) ?? []);
    const latency = due.find(isLatency);
    const other = due.find(isOther);
    for (const { rule } of [latency ?? [], other ?? []].flat()) turns[rules.indexOf(rule)]?.use();
    return { latency, fault: other };
  };
}

function isLatency(chosen: ChosenFault): chosen is ChosenFault<LatencyRule> {
  return chosen.rule.fault === 'latency';
}

function isOther(chosen: ChosenFault): chosen is ChosenFault<NonLatencyRule> {
  return chosen.rule.fault !== 'latency';
}

interface Turns {
  /**
   * Counts the request if the rule matches it. Returns the fault if the rule applies to this request, otherwise
   * `undefined`.
   */
  readonly next: (subject: Subject) => ChosenFault | undefined;
  /** Records that the fault was used. The rule's `times` limits the number of uses. */
  readonly use: () => void;
}

function createTurns(rule: FaultRule, seed: string): Turns {
  const isAbout = createMatcher(rule);
  let count = 0;
  let used = 0;
  return {
    next: (subject) => {
      if (!isAbout(subject)) return undefined;
      count += 1;
      const turn = count;
      const random = (purpose: string): number => hashToNumber(`${seed} ${turn} ${purpose}`);
      const isOver = rule.times !== undefined && used >= rule.times;
      return !isOver && isTurn(rule, turn, random) ? { rule, random } : undefined;
    },
    use: () => {
      used += 1;
    },
  };
}

function isTurn({ nth = 'every', rate }: FaultRule, turn: number, random: ChosenFault['random']): boolean {
  if (rate !== undefined) return random('rate') < rate;
  if (nth === 'every') return true;
  return [nth].flat().some((calls) => {
    const { from, to } = parseNumberRangeOrEmpty(calls);
    return turn >= from && turn <= to;
  });
}

interface Subject {
  readonly method: string;
  readonly path: string;
  readonly query: string;
}

function toSubject({ method, url }: HttpRequest, basePath: string): Subject {
  const { pathname, search } = new URL(url);
  const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
  return { method, path, query: search };
}

/** Faults that affect only lists. A rule with such a fault matches and counts only GET requests. */
const OF_LISTS: ReadonlySet<FaultRule['fault']> = new Set(['missing', 'no_next', 'gone_cursor', 'stale']);

function createMatcher({ on, fault }: FaultRule): (subject: Subject) => boolean {
  const [verb = '*', pattern = '*'] = on.split(' ');
  const parts = pattern.split(/(\*|\{\w+\})/).map((part) => {
    if (part === '*') return '.*';
    return part.startsWith('{') ? '[^/?]+' : part.replace(/[.?+^$()[\]{}|\\]/g, '\\$&');
  });
  const expression = new RegExp(`^${parts.join('')}$`);
  return ({ method, path, query }) => {
    if ((verb !== '*' && verb !== method) || (OF_LISTS.has(fault) && method !== 'GET')) return false;
    return expression.test(pattern.includes('?') ? `${path}${query}` : path);
  };
}

function hashToNumber(text: string): number {
  return Number.parseInt(hashSha256(text, 'hex').slice(0, 12), 16) / 2 ** 48;
}
