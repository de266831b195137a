import type { SourcePlace } from '../../model/diagnostic.ts';
import { DIAGNOSTIC_CODES } from '../../model/diagnostic-codes.ts';
import { toDigest } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormOptions, Report } from '../report.ts';
import { listRemarks, OTHER_RULES, type Remark } from './remarks.ts';

/**
 * A report as a SARIF log: a result for each thing that is wrong, a notification for why a run came to none. What an apply
 * will do is nothing wrong, and is not in it. Source: SARIF 2.1.0.
 */
export function renderSarifForm(report: Report, options: FormOptions): string {
  const remarks = listRemarks(report, options);
  const findings = remarks.filter(({ nature }) => nature === 'finding');
  const failures = remarks.filter(({ nature }) => nature === 'failure');
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'edgewise', ...toVersion(report, options), rules: rules.map(toRule) } },
        columnKind: 'utf16CodeUnits',
        invocations: [toInvocation(failures, options)],
        results: toResults(findings, { rules, options }),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2).split('\n').map(toPrintable).join('\n')}\n`;
}

function toVersion(report: Report, { version }: FormOptions): { readonly version?: string } {
  if (version !== undefined) return { version };
  return 'plan' in report ? { version: report.plan.tool.version } : {};
}

const MEANINGS: Readonly<Record<string, string>> = { ...DIAGNOSTIC_CODES, ...OTHER_RULES };

function toRule(id: string): object {
  const text = Object.hasOwn(MEANINGS, id) ? MEANINGS[id] : undefined;
  if (text === undefined) return { id };
  const isCode = Object.hasOwn(DIAGNOSTIC_CODES, id);
  const help = isCode ? `${text} See: edgewise explain ${id}` : text;
  return { id, shortDescription: { text }, help: { text: help } };
}

function toInvocation(failures: readonly Remark[], { exitCode = failures.length > 0 ? 1 : 0 }: FormOptions): object {
  const notifications = failures.map(({ message, remedy }) => ({
    level: 'error',
    message: toMessage(message, remedy),
  }));
  return {
    // 2 says that there are changes, 3 and 5 that what was looked at is refused: the run itself did what it is for.
    executionSuccessful: failures.length === 0 && [0, 2, 3, 5].includes(exitCode),
    exitCode,
    ...(notifications.length > 0 && { toolExecutionNotifications: notifications }),
  };
}

interface Log {
  readonly rules: readonly string[];
  readonly options: FormOptions;
}

function toResults(findings: readonly Remark[], { rules, options }: Log): readonly object[] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const { rule, level, message, remedy, place, related = [] } = finding;
    const digest = toFingerprint(finding, options);
    const number = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, number);
    const others = related.flatMap((one) => toRelated(one, options));
    return {
      ruleId: rule,
      ruleIndex: rules.indexOf(rule),
      level: level === 'notice' ? 'note' : level,
      message: toMessage(message, remedy),
      locations: toLocations(finding, place, options),
      ...(others.length > 0 && { relatedLocations: others.map((other, index) => ({ id: index + 1, ...other })) }),
      partialFingerprints: { 'edgewise/v1': `${digest}:${number}` },
    };
  });
}

/** Nothing of it says on which line: a finding is the same when lines are put before it. */
function toFingerprint({ rule, address, message, place }: Remark, options: FormOptions): string {
  return toDigest([rule, address ?? '', message, place === undefined ? '' : toUri(place.file, options)]);
}

function toMessage(message: string, remedy: string | undefined): { readonly text: string } {
  return { text: remedy === undefined ? message : `${message}\n${remedy}` };
}

/** One location at most; without a file, the resource alone. */
function toLocations({ address }: Remark, place: SourcePlace | undefined, options: FormOptions): readonly object[] {
  const logical =
    address === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: address, kind: 'resource' }] };
  const location = { ...toPhysical(place, options), ...logical };
  return Object.keys(location).length === 0 ? [] : [location];
}

function toRelated(
  { message, place }: NonNullable<Remark['related']>[number],
  options: FormOptions,
): readonly object[] {
  return [{ ...toPhysical(place, options), message: { text: message } }];
}

function toPhysical(place: SourcePlace | undefined, options: FormOptions): object {
  if (place === undefined || place.file === '<stdin>') return {};
  const { file, line, column } = place;
  return {
    physicalLocation: {
      artifactLocation: { uri: toUri(file, options) },
      region: { startLine: Math.max(1, line), startColumn: Math.max(1, column) },
    },
  };
}

/** A path as a URI reference: relative, when it can be. The first part of a relative path must not look like a scheme. */
function toUri(file: string, { toRepositoryPath = (path) => path }: FormOptions): string {
  const encoded = toRepositoryPath(file).toWellFormed().split('/').map(encodeURIComponent).join('/');
  return encoded.startsWith('/') ? `file://${encoded}` : encoded;
}
