import type { Kind } from '../../kinds/kind.ts';
import { OWNED_KINDS } from '../../kinds/tables/registry.ts';
import type { Diagnostic, ManifestStart, SourcePlace } from '../../model/diagnostic.ts';
import { ApiError, NetworkError } from '../../model/errors.ts';
import { parseRenderSource } from '../../model/field-path.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Failure, FormatOptions } from '../report.ts';
import { toPrintableLines } from './escape.ts';

/** Makes every text of the diagnostic printable. Only excerpts and remedies have line breaks. */
export function toPrintableDiagnostic(diagnostic: Diagnostic): Diagnostic {
  const { message, remedy, address, place, related } = diagnostic;
  return {
    ...diagnostic,
    message: toPrintable(message),
    ...(remedy !== undefined && { remedy: toPrintableLines(remedy).join('\n') }),
    ...(address !== undefined && { address: toPrintable(address) }),
    ...(place !== undefined && { place: toPrintablePlace(place) }),
    ...(related !== undefined && {
      related: related.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) })),
    }),
  };
}

/**
 * Makes every text of the place printable. A tab becomes one space, because a longer escape would shift the text above
 * the caret.
 */
export function toPrintablePlace(place: SourcePlace): SourcePlace {
  const lines = toPrintableLines(place.excerpt.replaceAll('\t', ' '));
  const { file, origin } = place;
  return {
    ...place,
    file: toPrintable(file),
    excerpt: lines.join('\n'),
    ...(origin !== undefined && { origin: toPrintable(origin) }),
  };
}

/** The address of a diagnostic, unless its message contains it. */
export function findSubject({ address, message }: Pick<Diagnostic, 'address' | 'message'>): string | undefined {
  return address === undefined || message.includes(address) ? undefined : address;
}

/** One line of a diagnostic in the style of a compiler: a label and a text. */
export interface DiagnosticLine {
  /** `place` and `excerpt` keep their columns; `copied` is text for the user to copy; the others are sentences. */
  readonly role: 'headline' | 'place' | 'excerpt' | 'note' | 'help' | 'copied';
  /** Includes the indent. */
  readonly label: string;
  readonly text: string;
}

/** The lines of a diagnostic, unwrapped: the message, its place, the related places, the remedy. Only the first is not indented. */
export function listDiagnosticLines(diagnostic: Diagnostic): readonly DiagnosticLine[] {
  const printable = toPrintableDiagnostic(diagnostic);
  const { severity, code, message, remedy, place, related = [] } = printable;
  return [
    { role: 'headline', label: `${severity}[${toPrintable(code)}]:`, text: message },
    ...listPlaceLines(place, findSubject(printable)),
    ...listRelatedLines(related),
    ...(remedy === undefined ? [] : listHelpLines(remedy)),
  ];
}

/** Lines for related places, each with its message. The texts must be printable. */
export function listRelatedLines(related: NonNullable<Diagnostic['related']>): readonly DiagnosticLine[] {
  return related.flatMap((one): readonly DiagnosticLine[] => [
    { role: 'note', label: '  note:', text: one.message },
    ...listPlaceLines(one.place),
  ]);
}

/** Lines of a remedy: a sentence, then lines for the user to copy. The text must be printable. */
export function listHelpLines(remedy: string): readonly DiagnosticLine[] {
  const label = '  help:';
  const [sentence = '', ...lines] = remedy.split('\n');
  const indent = ' '.repeat(label.length);
  return [
    { role: 'help', label, text: sentence },
    ...lines.map((text): DiagnosticLine => ({ role: 'copied', label: indent, text })),
  ];
}

/** Lines for a place: its position, then its excerpt. The texts must be printable. */
export function listPlaceLines(place: SourcePlace | undefined, subject?: string): readonly DiagnosticLine[] {
  const name = subject === undefined ? '' : `(${subject})`;
  if (place === undefined) return name === '' ? [] : [{ role: 'excerpt', label: ' ', text: name }];
  const lines = place.excerpt.split('\n').filter((line) => line.trim() !== '');
  return [
    { role: 'place', label: `  --> ${place.file}:${place.line}:${place.column}`, text: name },
    ...lines.map((text): DiagnosticLine => ({ role: 'excerpt', label: ' ', text })),
  ];
}

/** The view of a failed command that all formats for people share: printable texts. */
interface FailureView {
  readonly diagnostics: readonly Diagnostic[];
  /** Absent if the diagnostics say everything. */
  readonly error?: ErrorView;
}

/** An error that is not a diagnostic, and its remedy. */
export interface ErrorView {
  /** The message, then details. Text from a service is on a single line, so that it cannot forge other lines. */
  readonly lines: readonly string[];
  /** May have line breaks. */
  readonly remedy?: string;
}

export function createFailureView({ command, diagnostics = [], error }: Failure): FailureView {
  return {
    diagnostics: diagnostics.map(toPrintableDiagnostic),
    ...(error !== undefined && { error: createErrorView(error, command) }),
  };
}

function createErrorView(error: NonNullable<Failure['error']>, command: string | undefined): ErrorView {
  if (!(error instanceof Error)) return withRemedy(toPrintableLines(error.message), error.remedy);
  const message = toPrintable(error.message);
  if (error instanceof ApiError || error instanceof NetworkError) {
    return withRemedy([message, ...(READING.has(command ?? '') ? [UNREAD] : [])], findApiErrorRemedy(error, command));
  }
  return withRemedy(
    [message, ...toPrintableLines(error.stack ?? '')],
    'This is a bug in edgewise. Please report it with the lines above.',
  );
}

function withRemedy(lines: readonly string[], remedy: string | undefined): ErrorView {
  return { lines, ...(remedy !== undefined && { remedy: toPrintableLines(remedy).join('\n') }) };
}

/** Commands that only read until they have a plan. Later errors are in the result of the apply. */
const READING: ReadonlySet<string> = new Set(['plan', 'apply', 'destroy']);
const UNREAD = 'Not all live resources could be read, so there is no plan. Nothing was written.';

/** The remedy for an error of the service; undefined if only the service can know it. */
export function findApiErrorRemedy(error: Error, command?: string): string | undefined {
  if (!(error instanceof ApiError) || !error.isAuthentication) return undefined;
  const kind = findForbiddenKind(error.response);
  if (kind === undefined) return 'Check the API key and its permissions.';
  const others = OWNED_KINDS.filter((other) => other !== kind).map(({ name }) => name);
  const way =
    command === 'export'
      ? `name the kinds to export:\nedgewise export ${others.join(' ')}`
      : `list the kinds that the stack uses in its Stack, and only those are read:\nspec: { kinds: [${others.join(', ')}] }`;
  return `Check the API key and its permissions. If the account has no ${kind.title}, ${way}`;
}

/** The kind whose list the service forbids. The key may read other kinds, so the account may lack this feature. */
function findForbiddenKind({ method, path, status }: ApiError['response']): Kind | undefined {
  const [place] = path.split('?', 1);
  return method === 'GET' && status === 403 ? OWNED_KINDS.find((kind) => place?.endsWith(kind.path)) : undefined;
}

/**
 * A position in a file of the repository. For the output of a tool: the file that the tool names, at line 1, because
 * its lines are unknown.
 */
export interface FilePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The position of a place in the repository. The output of a command has the position of the command, unless it names
 * its source file. Undefined for standard input that names no source file.
 */
export function findFilePosition(
  { file, line, column, origin }: Omit<SourcePlace, 'excerpt'>,
  {
    toRepositoryPath = (path) => path,
    toOriginPath = (path) => path,
  }: Pick<FormatOptions, 'toRepositoryPath' | 'toOriginPath'>,
): FilePosition | undefined {
  const printer = parseRenderSource(file);
  if (origin !== undefined) return { file: toOriginPath(origin, printer?.file), line: 1, column: 1 };
  if (file === '<stdin>') return undefined;
  if (printer !== undefined) return { file: toRepositoryPath(printer.file), line: printer.line, column: 1 };
  return { file: toRepositoryPath(file), line: Math.max(1, line), column: Math.max(1, column) };
}

/** The label of a place in a manifest and, if the forge is known, the page that shows the place. */
interface PlaceLink {
  readonly label: string;
  readonly page: string | undefined;
}

/** Finds the pages of manifests in the commit that the plan was made from. Undefined for standard input. */
export function createPlaceLinks(
  { made }: Pick<Plan, 'made'>,
  options: FormatOptions,
): (place: ManifestStart) => PlaceLink | undefined {
  const { commit, filesUrl } = options.pipeline ?? {};
  const base = made?.commit === commit ? filesUrl : undefined;
  return (place) => {
    const position = findFilePosition({ ...place, column: 1 }, options);
    if (position === undefined) return undefined;
    const label = place.origin === undefined ? `${position.file}:${position.line}` : position.file;
    return { label: toPrintable(label), page: findFilePage(base, position) };
  };
}

/** The page that shows a file of the repository at a line; `undefined` for files outside of it. */
function findFilePage(filesUrl: string | undefined, { file, line }: FilePosition): string | undefined {
  const steps = file.split('/').filter((step) => step !== '.');
  const isInside = !file.startsWith('/') && !steps.some((step) => step === '..' || step === '');
  if (filesUrl === undefined || !isInside || !file.isWellFormed()) return undefined;
  return `${filesUrl}${steps.map(encodeUrlStep).join('/')}#L${line}`;
}

/** Also encodes characters that have a meaning in Markdown. */
function encodeUrlStep(step: string): string {
  return encodeURIComponent(step).replace(/[!'()*~_]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
