import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { findAbuseReportRule } from './abuse-report-rules.ts';
import type { Behaviour } from './behaviour.ts';
import { Failure } from './failure.ts';
import { toTimestamp } from './timestamp.ts';

/**
 * Only authorized keys may report. What becomes of each host name, and when, is settled by the rules at submission and kept with the
 * report, so that rules which change do not change it; it shows on the server's clock.
 */
export const ABUSE_REPORT_BEHAVIOUR: Behaviour = {
  authorize: (caller) => {
    if (caller.mayReportAbuse) return;
    throw new Failure('This API key is not authorized to report abuse', { code: 'forbidden' });
  },
  remember: ({ spec }, before, { now, abuseReportRules }) => {
    if (before !== undefined) return before.state;
    const decisions = listHostnames(spec).flatMap((hostname) => {
      const rule = findAbuseReportRule(abuseReportRules, hostname);
      if (rule === undefined || rule.status === UNDECIDED) return [];
      const at = toTimestamp(now.getTime() + rule.after_seconds * 1000);
      return [[hostname, { status: rule.status, at }] as const];
    });
    return { decisions: Object.fromEntries(decisions) };
  },
  compute: ({ spec, state }, now) => {
    const hostnames = listHostnames(spec).map((hostname) => ({ hostname, status: toStatus(state, hostname, now) }));
    return { status: toReportStatus(hostnames.map(({ status }) => status)), hostnames };
  },
};

const UNDECIDED = 'PENDING';

/** Each host name once, in the order of the URLs. */
function listHostnames({ urls }: Spec): readonly string[] {
  const hostnames = (isJsonArray(urls) ? urls : []).map((url) => new URL(String(url)).hostname);
  return [...new Set(hostnames)];
}

function toStatus({ decisions }: JsonObject, hostname: string, now: Date): string {
  const decision = isJsonObject(decisions) ? decisions[hostname] : undefined;
  if (!isJsonObject(decision) || Date.parse(String(decision['at'])) > now.getTime()) return UNDECIDED;
  return String(decision['status']);
}

function toReportStatus(statuses: readonly string[]): string {
  const undecided = statuses.filter((status) => status === UNDECIDED).length;
  if (undecided === 0) return 'PROCESSED';
  return undecided === statuses.length ? 'PENDING' : 'PARTIALLY_PROCESSED';
}
