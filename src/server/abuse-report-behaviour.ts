import { isJsonArray } from '../model/json.ts';
import type { Behaviour } from './behaviour.ts';
import { Failure } from './failure.ts';

/** Only authorized keys may report; a report and each of its host names wait for review. */
export const ABUSE_REPORT_BEHAVIOUR: Behaviour = {
  authorize: (caller) => {
    if (caller.mayReportAbuse) return;
    throw new Failure('This API key is not authorized to report abuse', { code: 'forbidden' });
  },
  compute: ({ spec }) => {
    const urls = isJsonArray(spec['urls']) ? spec['urls'] : [];
    const hostnames = new Set(urls.map((url) => new URL(String(url)).hostname));
    return { status: 'PENDING', hostnames: [...hostnames].map((hostname) => ({ hostname, status: 'PENDING' })) };
  },
};
