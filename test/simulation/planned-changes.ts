import { parseJson } from '../../src/model/json.ts';
import { readOnlyStack } from '../results.ts';

/** The effects of a plan file as one text: equal plans have equal texts. */
export function toChanges(text: string): string | undefined {
  if (parseJson(text) === undefined) return undefined;
  return JSON.stringify(readOnlyStack(text).changes)?.replaceAll(TIME_LEFT, '$1 a while').replaceAll(LIMIT_TIME, '');
}

/** The time until or since the replacement of a credential or certificate: a plan with faults is made at another time. */
const TIME_LEFT = /\b(rotates in|renews in|expires in|expired|it is) \d+ (?:minute|hour|day)s?\b/g;

/** The duration of the writes of a gap within the rate limit: each run has its own rate limit. */
const LIMIT_TIME = /"limitMs":\d+,/g;
