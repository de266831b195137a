import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { decideHostname } from './abuse-report-rules.ts';
import type { Behaviour } from './behaviour.ts';
import { Failure } from './failure.ts';
import { toTimestamp } from './timestamp.ts';

/**
 * Only authorized keys may report. The rules settle at submission what will be decided about each host name, and when; that is kept
 * with the report, and shows once the server's clock has come to it.
 */
export const ABUSE_REPORT_BEHAVIOUR: Behaviour = {
  authorize: (caller) => {
    if (caller.mayReportAbuse) return;
    throw new Failure('This API key is not authorized to report abuse', { code: 'forbidden' });
  },
  remember: ({ spec }, _before, { now, abuseReportRules }) => {
    const decisions = listHostnames(spec).flatMap((hostname) => {
      const decision = decideHostname(abuseReportRules, hostname);
      if (decision === undefined) return [];
      return { hostname, status: decision.status, at: toTimestamp(now.getTime() + decision.afterSeconds * 1000) };
    });
    return { decisions };
  },
  compute: ({ spec, state }, now) => {
    const decided = listDecided(state, now);
    const hostnames = listHostnames(spec).map((hostname) => ({
      hostname,
      status: decided.get(hostname) ?? 'PENDING',
    }));
    return { status: toReportStatus(hostnames.length, decided.size), hostnames };
  },
};

/** Each host name once, in the order of the URLs. */
function listHostnames({ urls }: Spec): readonly string[] {
  const hostnames = (isJsonArray(urls) ? urls : []).map((url) => new URL(String(url)).hostname);
  return [...new Set(hostnames)];
}

/** The host names whose time has come, with what was decided. */
function listDecided({ decisions }: JsonObject, now: Date): ReadonlyMap<string, string> {
  const all = (isJsonArray(decisions) ? decisions : []).filter(isJsonObject);
  const decided = all.filter(({ at }) => Date.parse(String(at)) <= now.getTime());
  return new Map(decided.map(({ hostname, status }) => [String(hostname), String(status)]));
}

function toReportStatus(hostnames: number, decided: number): string {
  if (decided === 0) return 'PENDING';
  return decided < hostnames ? 'PARTIALLY_PROCESSED' : 'PROCESSED';
}
