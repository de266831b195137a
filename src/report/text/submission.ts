import type { DecidedPartsField, SubmissionPartDecision, SubmittedKind } from '../../kinds/kind.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, toJsonList, toJsonText } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { TextStyleOptions } from '../report.ts';
import { countColumns, quoteIfNeeded } from '../view/escape.ts';
import { formatCount } from '../view/wording.ts';
import { createPainter, padToWidth, type TextRole } from './layout.ts';

/** A submission as printable texts. */
interface SubmissionView {
  readonly id: string;
  readonly status: string;
  readonly isDecided: boolean;
  readonly createdAt: string;
  /** The fields that the submitter set, each with the lines of its value. */
  readonly fields: readonly (readonly [name: string, lines: readonly string[]])[];
  readonly partTitle: string;
  readonly parts: readonly PartView[];
}

interface PartView {
  readonly name: string;
  readonly status: string;
  /** Undefined if the kind does not define the status of the part. */
  readonly decision: SubmissionPartDecision | undefined;
}

/** Fields that are missing from the response become empty texts. */
export function createSubmissionView(kind: SubmittedKind, shown: JsonObject): SubmissionView {
  const { status, parts } = kind.submission;
  return {
    id: quoteIfNeeded(toJsonText(shown['id'])),
    status: quoteIfNeeded(toJsonText(shown[status.field])),
    isDecided: shown[status.field] === status.decided,
    createdAt: quoteIfNeeded(toJsonText(shown['created_at'])),
    fields: kind.specFields.map(([name]) => [name, listLines(shown[name])]),
    partTitle: parts.title,
    parts: toJsonList(shown[parts.field]).flatMap((part) => (isJsonObject(part) ? createPartView(parts, part) : [])),
  };
}

function createPartView({ name, status, decisions }: DecidedPartsField, part: JsonObject): PartView {
  const shown = toJsonText(part[status]);
  const decision = Object.hasOwn(decisions, shown) ? decisions[shown] : undefined;
  return { name: quoteIfNeeded(toJsonText(part[name])), status: quoteIfNeeded(shown), decision };
}

/** The state of a submission on one line: `abrp_2ab: PENDING, 0 of 2 host names decided`. */
export function renderSubmissionState({ id, status, partTitle, parts }: SubmissionView): string {
  const decided = parts.filter(({ decision }) => decision !== undefined && decision !== 'open').length;
  return `${id}: ${status}, ${decided} of ${formatCount(parts.length, partTitle)} decided`;
}

/** A submission with its parts as a table. */
export function renderSubmissionText(view: SubmissionView, options: TextStyleOptions): string {
  const facts = [['submitted', [view.createdAt]] as const, ...view.fields];
  return [
    createPainter(options.color)('strong', renderSubmissionState(view)),
    ...facts.flatMap(([label, lines]) => lines.map((line, row) => `  ${(row === 0 ? label : '').padEnd(9)}  ${line}`)),
    ...renderSubmissionTable(view, options),
    '',
  ].join('\n');
}

function renderSubmissionTable({ parts, partTitle }: SubmissionView, { color }: TextStyleOptions): readonly string[] {
  if (parts.length === 0) return [];
  const paint = createPainter(color);
  const heading = partTitle.toUpperCase();
  const width = Math.max(...[heading, ...parts.map(({ name }) => name)].map(countColumns));
  const rows = parts.map(({ name, status, decision }) => {
    const text = decision === undefined ? status : paint(STYLES[decision], status);
    return `  ${padToWidth(name, width)}  ${text}`;
  });
  return ['', paint('muted', `  ${padToWidth(heading, width)}  STATUS`), ...rows];
}

const STYLES: Readonly<Record<SubmissionPartDecision, TextRole>> = {
  open: 'changed',
  rejected: 'removed',
  accepted: 'added',
  ignored: 'muted',
};

/** Returns one line for a text, or one line for each member of a list. Omits empty texts. */
function listLines(value: Json | undefined): readonly string[] {
  return (isJsonArray(value) ? value : [value])
    .map((one) => toPrintable(toJsonText(one)))
    .filter((line) => line !== '');
}
