import type { JsonObject } from '../../src/model/json.ts';
import type { FaultRequestSelector, FaultRule, ServerFaults } from '../../src/model/server-faults.ts';
import { findIdleMember } from '../../src/server/fault-targets.ts';
import type { SeededRandom } from './random.ts';

type FaultName = FaultRule['fault'];

/** Faults that return a wrong response without a sign. No client can detect them. */
const DECEITS: ReadonlySet<FaultName> = new Set(['missing', 'no_next', 'stale', 'left_out']);

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

/** Faults that a client detects, or that deceive about nothing that exists. */
const HONEST: readonly [FaultName, ...FaultName[]] = [
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
  'cached',
  'cut_metadata',
  'no_effect',
  'other_values',
];

/** What a service grants instead of what is requested: no ACL, another principal, a later end. */
const GRANTED: readonly [JsonObject, ...JsonObject[]] = [
  { acl: [] },
  { acl: ['*'] },
  { principals: [] },
  { principals: ['root'] },
  { extensions: { 'permit-port-forwarding': '' } },
  { valid_until: '2098-01-01T00:00:00Z' },
];

/** Whether these faults can make a response wrong without a sign. */
export function hasUndetectableFault({ rules }: ServerFaults): boolean {
  return rules.some(({ fault }) => DECEITS.has(fault));
}

/** Chooses the faults of one run: often none, seldom many. */
export function chooseFaults(chance: SeededRandom, { undetectable }: { readonly undetectable: boolean }): ServerFaults {
  const count = chance.pick([0, 1, 1, 2, 3]);
  const rules = Array.from({ length: count }, () => chooseRule(chance, undetectable && chance.isLucky(0.2)));
  const seed = chance.int(0, 1e6);
  // A server refuses a rule that can never match.
  const all = [...rules, ...chooseHabit(chance.fork('habit'), undetectable)];
  return { seed, rules: all.filter((rule) => findIdleMember(rule) === undefined) };
}

/** In some runs, the service does at every request what a client must not believe. */
function chooseHabit(chance: SeededRandom, undetectable: boolean): readonly FaultRule[] {
  if (!chance.isLucky(0.2)) return [];
  const fault = chance.pick(['cached', 'cut_metadata', 'no_effect', 'other_values', 'left_out'] as const);
  if (fault === 'left_out' && !undetectable) return [];
  return [createRule({ on: chance.pick(ON) }, fault, chance)];
}

/** A rule by which the service grants more, of the kind that has the field. */
function createGrant(choice: Omit<FaultRequestSelector, 'on'>, values: JsonObject): FaultRule {
  const on = Object.hasOwn(values, 'acl') ? 'POST /credentials' : 'POST /ssh_user_certificates';
  return { ...choice, on, fault: 'other_values', values };
}

function chooseRule(chance: SeededRandom, isDeceit: boolean): FaultRule {
  const fault = isDeceit ? chance.pick(['missing', 'no_next', 'stale', 'left_out'] as const) : chance.pick(HONEST);
  const choice = {
    on: isDeceit ? 'GET *' : chance.pick(ON),
    ...(chance.isLucky(0.5) ? { rate: chance.pick([0.05, 0.1, 0.3]) } : { nth: chance.int(1, 6) }),
    ...(chance.isLucky(0.3) && { times: chance.int(1, 3) }),
  };
  return createRule(choice, fault, chance);
}

/** Creates a rule for the requests of a choice. Some faults choose the path themselves. */
function createRule(choice: FaultRequestSelector, fault: FaultName, chance: SeededRandom): FaultRule {
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
    case 'cached':
      return { ...choice, on: 'POST *', fault, when };
    case 'cut_metadata':
      return { ...choice, fault, bytes: chance.pick([0, 30, 60, 130, 300]) };
    case 'other_values':
      return createGrant(choice, chance.pick(GRANTED));
    case 'left_out':
      return { on: '*', fault, fields: ['metadata'] };
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
