import type { HOSTNAME_STATUSES } from '../kinds/tables/abuse-report.ts';

/** What is decided about a reported host name. */
export interface AbuseReportRule {
  /** A host name, which stands for all names below it too; `*`: any. */
  readonly hostname: string;
  /** `PENDING`: it is never decided. */
  readonly status: (typeof HOSTNAME_STATUSES)[number];
  /** From the submission to the decision. Default: 30. */
  readonly after_seconds?: number;
}

/** What is decided about a host name, and when. */
export interface AbuseReportDecision {
  readonly status: string;
  readonly afterSeconds: number;
}

const DEFAULT_AFTER_SECONDS = 30;

/** What holds unless a seed says otherwise: a name that leads nowhere is soon ignored, any other is banned. */
export const DEFAULT_ABUSE_REPORT_RULES: readonly AbuseReportRule[] = [
  { hostname: 'invalid', status: 'IGNORE', after_seconds: 10 },
  { hostname: '*', status: 'BANNED' },
];

/** What the first rule that is about a host name decides; `undefined`: nothing, ever. */
export function decideHostname(rules: readonly AbuseReportRule[], hostname: string): AbuseReportDecision | undefined {
  const rule = rules.find((candidate) => isAbout(candidate, hostname));
  if (rule === undefined || rule.status === 'PENDING') return undefined;
  return { status: rule.status, afterSeconds: rule.after_seconds ?? DEFAULT_AFTER_SECONDS };
}

function isAbout(rule: AbuseReportRule, hostname: string): boolean {
  const [suffix, name] = [toPlainName(rule.hostname), toPlainName(hostname)];
  return suffix === '*' || name === suffix || name.endsWith(`.${suffix}`);
}

/** Without case, and without the dot of the root. */
function toPlainName(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
