import type { HOSTNAME_STATUSES } from '../kinds/abuse-report.ts';

/** What becomes of a host name that is reported. */
export interface AbuseReportRule {
  /** A host name, which stands for all names below it too; `*`: any. */
  readonly hostname: string;
  /** `PENDING`: it is never decided. */
  readonly status: (typeof HOSTNAME_STATUSES)[number];
  /** From the submission to the decision. */
  readonly after_seconds: number;
}

/** What holds unless a seed says otherwise: a name that leads nowhere is soon ignored, any other is banned after half a minute. */
export const DEFAULT_ABUSE_REPORT_RULES: readonly AbuseReportRule[] = [
  { hostname: 'invalid', status: 'IGNORE', after_seconds: 10 },
  { hostname: '*', status: 'BANNED', after_seconds: 30 },
];

/** The first rule that is about a host name, if there is one. */
export function findAbuseReportRule(rules: readonly AbuseReportRule[], hostname: string): AbuseReportRule | undefined {
  const name = toPlainName(hostname);
  return rules.find((rule) => {
    const suffix = toPlainName(rule.hostname);
    return suffix === '*' || name === suffix || name.endsWith(`.${suffix}`);
  });
}

/** Without case, and without the dot of the root. */
function toPlainName(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
