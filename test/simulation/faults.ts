import type { FaultRule, ServerFaults } from '../../src/model/server-faults.ts';
import { findRuleMistake } from '../../src/server/fault-targets.ts';
import type { SeededRandom } from './random.ts';

type FaultName = FaultRule['fault'];
type RepairedFault = Exclude<FaultName, 'other_values'>;

/** Faults that return a wrong response without a sign. No client can detect them. */
const DECEITS: ReadonlySet<FaultName> = new Set(['missing', 'no_next', 'stale']);

const ON: readonly [string, ...string[]] = [
  '*',
  '*',
  'GET *',
  'POST *',
  'POST *',
  'POST *',
  'POST /credentials',
  'PATCH *',
  'DELETE *',
  'PUT *',
  'GET /credentials',
];

/** Faults that leave no record of their own, which only a consent removes. */
const HONEST: readonly [RepairedFault, ...RepairedFault[]] = [
  'latency',
  'throttle',
  'status',
  'status',
  'reset',
  'reset',
  'cut',
  'hang',
  'broken_json',
  'content_type',
  'late_release',
  'wrong_date',
];

/** Whether these faults can make a response wrong without a sign. */
export function hasUndetectableFault({ rules }: ServerFaults): boolean {
  return rules.some(({ fault }) => DECEITS.has(fault));
}

/** Chooses the faults of one run: often none, seldom many. */
export function chooseFaults(chance: SeededRandom, { undetectable }: { readonly undetectable: boolean }): ServerFaults {
  const count = chance.pick([0, 1, 1, 2, 3]);
  const rules = Array.from({ length: count }, () => chooseRule(chance, undetectable && chance.isLucky(0.2)));
  // A server refuses a rule that can never match.
  return { seed: chance.int(0, 1e6), rules: rules.filter((rule) => findRuleMistake(rule) === undefined) };
}

function chooseRule(chance: SeededRandom, isDeceit: boolean): FaultRule {
  const fault = isDeceit ? chance.pick(['missing', 'no_next', 'stale'] as const) : chance.pick(HONEST);
  const choice = {
    on: isDeceit ? 'GET *' : chance.pick(ON),
    ...(chance.isLucky(0.5) ? { rate: chance.pick([0.05, 0.1, 0.3]) } : { nth: chance.int(1, 6) }),
    ...(chance.isLucky(0.3) && { times: chance.int(1, 3) }),
  };
  const when = chance.pick(['before', 'after'] as const);
  switch (fault) {
    case 'latency':
      return { ...choice, fault, ms: '100-5000' };
    case 'throttle':
      return { ...choice, fault, ...(chance.isLucky(0.6) && { retry_after: chance.int(0, 20) }) };
    case 'status':
      return { ...choice, fault, code: chance.pick([500, 502, 503] as const), when };
    case 'wrong_date':
      return { ...choice, fault, seconds: chance.int(-90_000, 90_000) };
    case 'late_release':
      return { ...choice, fault, ms: '1000-8000' };
    case 'hang':
      return { ...choice, fault, ms: 30_000, when };
    case 'reset':
    case 'content_type':
      return { ...choice, fault, when };
    case 'stale':
      return {
        ...choice,
        fault,
        ...(chance.isLucky(0.5) ? { changes: chance.int(1, 3) } : { requests: chance.int(1, 8) }),
      };
    default:
      return { ...choice, fault };
  }
}
