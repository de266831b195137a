import { isJsonObject, parseJson } from '../../src/model/json.ts';

/** What a plan file says that is done, as one text: two plans that do the same have the same. */
export function toChanges(text: string): string | undefined {
  const plan = parseJson(text) ?? null;
  if (!isJsonObject(plan)) return undefined;
  return JSON.stringify(plan['changes'])?.replaceAll(TIME_LEFT, '$1 a while').replaceAll(LIMIT_TIME, '');
}

/** How long it is until a credential or a certificate is replaced, or since: a plan that meets faults is made at another time. */
const TIME_LEFT = /\b(rotates in|renews in|expires in|expired|it is) \d+ (?:minute|hour|day)s?\b/g;

/** How long the writes of a gap take within the rate limit: each run has a rate limit of its own. */
const LIMIT_TIME = /"limitMs":\d+,/g;
