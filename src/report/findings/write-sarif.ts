import { countDangersByGroup } from '../../model/danger.ts';
import { DIAGNOSTIC_CODES } from '../../model/diagnostic.ts';
import { toHarmlessJson } from '../../model/job-commands.ts';
import { toDigest } from '../../model/json.ts';
import type { Place } from '../../model/place.ts';
import { type Document, FINDING_RULES, type ShownFinding } from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { findRepositoryPosition } from '../view/finding-wording.ts';
import { joinFindings, listFindings } from './list-findings.ts';

/**
 * A document as a SARIF log: a result for each finding, and a notification if the run failed. Successful writes are
 * omitted. Source: SARIF 2.1.0.
 */
export function* writeSarif(document: Document, options: FormatOptions): Iterable<string> {
  const all = joinFindings(listFindings(document));
  const findings = all.filter(({ nature }) => nature !== 'failure');
  const failures = all.filter(({ nature }) => nature === 'failure');
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort();
  const { exitCode = failures.length > 0 ? 1 : 0, version = document.version } = options;
  const notifications = failures.map((one) => ({ level: 'error', message: createMessage(one) }));
  const run = {
    tool: { driver: { name: 'edgewise', version, rules: rules.map((rule) => createRule(rule, options)) } },
    columnKind: 'utf16CodeUnits',
    invocations: [
      {
        // Exit code 2 means changes; 3 and 5 mean that the result is refused. In all three cases the run itself succeeded.
        executionSuccessful: failures.length === 0 && [0, 2, 3, 5].includes(exitCode),
        exitCode,
        ...(notifications.length > 0 && { toolExecutionNotifications: notifications }),
      },
    ],
    results: createResults(findings, rules, options),
    properties: {
      dangers: countDangersByGroup(findings.flatMap(({ group }) => (group === undefined ? [] : [{ group }]))),
    },
  };
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  yield toHarmlessJson(`${JSON.stringify(log, null, 2)}\n`);
}

const MEANINGS: Readonly<Record<string, string>> = { ...DIAGNOSTIC_CODES, ...FINDING_RULES };

function createRule(id: string, { describeRule }: FormatOptions): object {
  const text = Object.hasOwn(MEANINGS, id) ? MEANINGS[id] : undefined;
  if (text === undefined) return { id };
  const { meaning = text, remedy = text } = describeRule?.(id) ?? {};
  const isCode = Object.hasOwn(DIAGNOSTIC_CODES, id);
  return {
    id,
    // The name of a rule must differ from its id in more than case: an id of one word gets none.
    ...(id.includes('-') && { name: id.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase()) }),
    shortDescription: { text },
    fullDescription: { text: meaning },
    help: { text: isCode ? `${remedy}\nSee: edgewise explain ${id}` : remedy },
  };
}

function createResults(
  findings: readonly ShownFinding[],
  rules: readonly string[],
  options: FormatOptions,
): readonly object[] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const { rule, level, address, place, fallback, group, stack, related = [] } = finding;
    const digest = computeFingerprint(finding, options);
    const number = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, number);
    const others = related.map((one, index) => ({
      id: index + 1,
      ...createLocation(one.place, options),
      message: { text: one.message },
    }));
    return {
      ruleId: rule,
      ruleIndex: rules.indexOf(rule),
      level: level === 'notice' ? 'note' : level,
      message: createMessage(finding),
      // GitHub code scanning rejects results without a location, so a finding without a place has the place of the Stack.
      locations: [
        {
          ...createLocation(place ?? fallback, options),
          ...(address !== undefined && { logicalLocations: [{ fullyQualifiedName: address, kind: 'resource' }] }),
        },
      ],
      ...(others.length > 0 && { relatedLocations: others }),
      partialFingerprints: { 'edgewise/v1': `${digest}:${number}` },
      properties: { stack, group },
    };
  });
}

/** The fingerprint excludes the line, so that a finding keeps its fingerprint when lines are inserted above it. */
function computeFingerprint({ rule, address, message, place }: ShownFinding, options: FormatOptions): string {
  const position = place === undefined ? undefined : findRepositoryPosition(place, options);
  return toDigest([rule, address ?? '', message, position === undefined ? '' : encodeUri(position.file)]);
}

function createMessage({ message, remedy }: ShownFinding): { readonly text: string } {
  return { text: remedy === undefined ? message : `${message}\n${remedy}` };
}

/** The location of a place. One in standard input, or none at all, has the name of no file of the repository. */
function createLocation(place: Place | undefined, options: FormatOptions): object {
  const unfiled = { file: place === undefined ? '.' : 'stdin', line: place?.line ?? 1, column: place?.column ?? 1 };
  const { file, line, column } = (place && findRepositoryPosition(place, options)) ?? unfiled;
  return {
    physicalLocation: {
      artifactLocation: { uri: encodeUri(file) },
      region: { startLine: line, startColumn: column },
    },
  };
}

/**
 * A path as a URI reference, relative if possible. Colons are encoded, because the first segment of a relative path
 * must not look like a scheme.
 */
function encodeUri(file: string): string {
  const encoded = file.toWellFormed().split('/').map(encodeURIComponent).join('/');
  return encoded.startsWith('/') ? `file://${encoded}` : encoded;
}
