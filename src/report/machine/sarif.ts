import { countDangersByGroup } from '../../model/danger.ts';
import { DIAGNOSTIC_CODES } from '../../model/diagnostic.ts';
import { toHarmlessJson } from '../../model/job-commands.ts';
import { toDigest } from '../../model/json.ts';
import type { Place } from '../../model/place.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormatOptions, Report, StacksRunReport } from '../report.ts';
import { findRepositoryPosition } from '../view/diagnostic-view.ts';
import {
  type Annotation,
  joinNotStartedAnnotations,
  listAnnotations,
  listRemovedStackAnnotations,
  NON_DIAGNOSTIC_RULES,
} from './annotations.ts';

/**
 * A report as a SARIF log: a result for each diagnostic or danger, and a notification if the run failed. Successful
 * writes are omitted. Source: SARIF 2.1.0.
 */
export function renderSarifReport(report: Report, options: FormatOptions): string {
  return renderLog([{ report, options }], { ...options, ...createVersion(report, options) });
}

/** A run over many stacks as a SARIF log with a single SARIF run. */
export function renderStacksSarif(run: StacksRunReport, options: FormatOptions): string {
  const removed = listRemovedStackAnnotations(run).map((annotation) => ({ annotation, options }));
  const subjects = run.parts.map(({ name, report, options: own }) => ({
    report,
    options: { ...options, ...own },
    stack: toPrintable(name),
  }));
  return renderLog(subjects, options, removed);
}

interface Subject {
  readonly report: Report;
  readonly options: FormatOptions;
  /** The name of the stack. Present only in a run over many stacks. */
  readonly stack?: string | undefined;
}

function renderLog(subjects: readonly Subject[], run: FormatOptions, more: readonly Finding[] = []): string {
  const own = subjects.flatMap(({ report, options, stack }) =>
    joinNotStartedAnnotations(listAnnotations(report, options)).map((annotation) => ({ annotation, options, stack })),
  );
  const annotations = [...own, ...more];
  const findings = annotations.filter(({ annotation: { nature } }) => nature === 'finding' || nature === 'danger');
  const failures = annotations.flatMap(({ annotation }) => (annotation.nature === 'failure' ? [annotation] : []));
  const rules = [...new Set(findings.map(({ annotation }) => annotation.rule))].sort();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'edgewise',
            version: run.version,
            rules: rules.map((rule) => createRule(rule, run)),
          },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [createInvocation(failures, run)],
        results: createResults(findings, rules),
        properties: {
          dangers: countDangersByGroup(
            findings.flatMap(({ annotation: { group } }) => (group === undefined ? [] : [{ group }])),
          ),
        },
      },
    ],
  };
  return toHarmlessJson(`${JSON.stringify(log, null, 2)}\n`);
}

function createVersion(report: Report, { version }: FormatOptions): { readonly version?: string } {
  if (version !== undefined) return { version };
  return 'plan' in report ? { version: report.plan.tool.version } : {};
}

const MEANINGS: Readonly<Record<string, string>> = { ...DIAGNOSTIC_CODES, ...NON_DIAGNOSTIC_RULES };

function createRule(id: string, { describeRule }: FormatOptions): object {
  const text = Object.hasOwn(MEANINGS, id) ? MEANINGS[id] : undefined;
  if (text === undefined) return { id };
  const description = describeRule?.(id);
  const isCode = Object.hasOwn(DIAGNOSTIC_CODES, id);
  const help = [description?.remedy ?? text, ...(isCode ? [`See: edgewise explain ${id}`] : [])];
  return {
    id,
    ...(id.includes('-') && { name: formatPascalCase(id) }),
    shortDescription: { text },
    fullDescription: { text: description?.meaning ?? text },
    help: { text: help.join('\n') },
  };
}

/**
 * Turns the id `bad-field` into the name `BadField`. An id of one word gets no name, because the name of a rule
 * must differ from its id in more than case.
 */
function formatPascalCase(id: string): string {
  return id
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

function createInvocation(
  failures: readonly Annotation[],
  { exitCode = failures.length > 0 ? 1 : 0 }: FormatOptions,
): object {
  const notifications = failures.map(({ message, remedy }) => ({
    level: 'error',
    message: createMessage(message, remedy),
  }));
  return {
    // Exit code 2 means changes; 3 and 5 mean that the result is refused. In all three cases the run itself succeeded.
    executionSuccessful: failures.length === 0 && [0, 2, 3, 5].includes(exitCode),
    exitCode,
    ...(notifications.length > 0 && { toolExecutionNotifications: notifications }),
  };
}

interface Finding extends Pick<Subject, 'options' | 'stack'> {
  readonly annotation: Annotation;
}

function createResults(findings: readonly Finding[], rules: readonly string[]): readonly object[] {
  const seen = new Map<string, number>();
  return findings.map(({ annotation: finding, options, stack }) => {
    const { rule, level, message, remedy, place, group, related = [] } = finding;
    const properties = { stack, group };
    const digest = computeFingerprint(finding, options);
    const number = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, number);
    const others = related.map((one) => createRelated(one, options));
    return {
      ruleId: rule,
      ruleIndex: rules.indexOf(rule),
      level: level === 'notice' ? 'note' : level,
      message: createMessage(message, remedy),
      locations: createLocations(finding, place, options),
      ...(others.length > 0 && { relatedLocations: others.map((other, index) => ({ id: index + 1, ...other })) }),
      partialFingerprints: { 'edgewise/v1': `${digest}:${number}` },
      ...(Object.keys(properties).length > 0 && { properties }),
    };
  });
}

/** The fingerprint excludes the line, so that a finding keeps its fingerprint when lines are inserted above it. */
function computeFingerprint({ rule, address, message, place }: Annotation, options: FormatOptions): string {
  const position = place === undefined ? undefined : findRepositoryPosition(place, options);
  return toDigest([rule, address ?? '', message, position === undefined ? '' : encodeUri(position.file)]);
}

function createMessage(message: string, remedy: string | undefined): { readonly text: string } {
  return { text: remedy === undefined ? message : `${message}\n${remedy}` };
}

/** GitHub code scanning rejects results without a location, so a finding without a place has the place of the Stack. */
function createLocations({ address }: Annotation, place: Place | undefined, options: FormatOptions): readonly object[] {
  const logical =
    address === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: address, kind: 'resource' }] };
  return [{ ...createPhysicalLocation(place ?? options.locate?.(), options), ...logical }];
}

function createRelated({ message, place }: NonNullable<Annotation['related']>[number], options: FormatOptions): object {
  return { ...createPhysicalLocation(place, options), message: { text: message } };
}

function createPhysicalLocation(place: Place | undefined, options: FormatOptions): object {
  const { file, line, column } = (place && findRepositoryPosition(place, options)) ?? createUnfiledPosition(place);
  return {
    physicalLocation: {
      artifactLocation: { uri: encodeUri(file) },
      region: { startLine: line, startColumn: column },
    },
  };
}

/** A position for a place in standard input, or for a finding without a place. */
function createUnfiledPosition(place: Place | undefined): Place {
  return { file: place === undefined ? '.' : 'stdin', line: place?.line ?? 1, column: place?.column ?? 1 };
}

/**
 * A path as a URI reference, relative if possible. Colons are encoded, because the first segment of a relative path
 * must not look like a scheme.
 */
function encodeUri(file: string): string {
  const encoded = file.toWellFormed().split('/').map(encodeURIComponent).join('/');
  return encoded.startsWith('/') ? `file://${encoded}` : encoded;
}
