import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { TextOptions } from '../report.ts';
import { toColumns } from '../view/columns.ts';
import { toWord } from '../view/escape.ts';
import { toCount } from '../view/wording.ts';
import { type Style, toPadded, toPaint } from './layout.ts';

/** How an abuse report looks to people. */

/** What is shown of an abuse report. All texts are printable. */
export interface AbuseReportView {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly metadata: string;
  readonly urls: readonly string[];
  readonly hostnames: readonly HostnameView[];
}

interface HostnameView {
  readonly hostname: string;
  readonly status: string;
}

/** The view of an abuse report as the service shows it, or as much of it as there is. */
export function toAbuseReportView(report: JsonObject): AbuseReportView {
  return {
    id: toWord(toText(report['id'])),
    status: toWord(toText(report['status'])),
    createdAt: toWord(toText(report['created_at'])),
    metadata: toPrintable(toText(report['metadata'])),
    urls: toList(report['urls']).map((url) => toPrintable(toText(url))),
    hostnames: toList(report['hostnames'])
      .filter(isJsonObject)
      .map(({ hostname, status }) => ({ hostname: toWord(toText(hostname)), status: toWord(toText(status)) })),
  };
}

/** Whether there is nothing more to wait for. */
export function isProcessed({ status }: AbuseReportView): boolean {
  return status === 'PROCESSED';
}

/** How far a report has come, in a few words: `abrp_2ab: PENDING, 0 of 2 host names decided`. */
export function renderAbuseReportState({ id, status, hostnames }: AbuseReportView): string {
  const decided = hostnames.filter((one) => one.status !== 'PENDING').length;
  return `${id}: ${status}, ${decided} of ${toCount(hostnames.length, 'host name')} decided`;
}

/** A report with its host names as a table. */
export function renderAbuseReportText(view: AbuseReportView, options: TextOptions): string {
  const facts = [
    ['submitted', [view.createdAt]],
    ['metadata', view.metadata === '' ? [] : [view.metadata]],
    ['URLs', view.urls],
  ] as const;
  return [
    toPaint(options.color)('strong', renderAbuseReportState(view)),
    ...facts.flatMap(([label, values]) =>
      values.map((value, row) => `  ${(row === 0 ? label : '').padEnd(9)}  ${value}`),
    ),
    ...renderTable(view.hostnames, options),
    '',
  ].join('\n');
}

function renderTable(hostnames: readonly HostnameView[], { color }: TextOptions): readonly string[] {
  if (hostnames.length === 0) return [];
  const paint = toPaint(color);
  const heading = 'HOST NAME';
  const width = Math.max(...[heading, ...hostnames.map(({ hostname }) => hostname)].map(toColumns));
  const rows = hostnames.map(({ hostname, status }) => {
    const style = STYLES.get(status);
    return `  ${toPadded(hostname, width)}  ${style === undefined ? status : paint(style, status)}`;
  });
  return ['', paint('muted', `  ${toPadded(heading, width)}  STATUS`), ...rows];
}

const STYLES: ReadonlyMap<string, Style> = new Map([
  ['PENDING', 'changed'],
  ['BANNED', 'removed'],
  ['UNBANNED', 'added'],
  ['IGNORE', 'muted'],
]);

function toList(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
