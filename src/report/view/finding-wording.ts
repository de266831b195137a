import type { Kind } from '../../kinds/kind.ts';
import { OWNED_KINDS } from '../../kinds/tables/registry.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { ApiError, NetworkError } from '../../model/errors.ts';
import type { Place } from '../../model/place.ts';
import type { Plan, SafetyViolation } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { ErrorBlock, PlaceLink, ShownFinding } from '../document.ts';
import type { Failure, FormatOptions } from '../report.ts';
import { quoteIfNeeded, toPrintableLines } from './escape.ts';

/** A diagnostic as a finding. Its texts become printable; only remedies have line breaks. */
export function toFinding(diagnostic: Diagnostic): ShownFinding {
  const { code, severity, message, remedy, address, field, place, related, isOfChange } = diagnostic;
  return {
    rule: toPrintable(code),
    level: severity,
    message: toPrintable(message),
    remedy: remedy === undefined ? undefined : toPrintableLines(remedy).join('\n'),
    address: address === undefined ? undefined : toPrintable(address),
    field,
    place: place && toPrintablePlace(place),
    related: related?.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) })),
    isOfChange,
  };
}

/** A violation as a finding. Its texts become printable. */
export function toRefusal({ rule, message, remedy, addresses, places = [] }: SafetyViolation): ShownFinding {
  return {
    rule,
    level: 'error',
    nature: 'refusal',
    message: toPrintable(message),
    remedy: toPrintableLines(remedy).join('\n'),
    addresses: addresses.map(quoteIfNeeded),
    related: places.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) })),
  };
}

/** The resources of a refusal that its message does not name. */
export function listUnmentionedAddresses({ addresses = [], message }: ShownFinding): readonly string[] {
  return addresses.filter((address) => !message.includes(address));
}

export function toPrintablePlace(place: Place): Place {
  const { file, origin } = place;
  return { ...place, file: toPrintable(file), origin: origin === undefined ? undefined : toPrintable(origin) };
}

/** The address of a finding. Undefined if there is none, or if the message contains it. */
export function findUnmentionedAddress({ address, message }: ShownFinding): string | undefined {
  return address === undefined || message.includes(address) ? undefined : address;
}

/** One line of a finding in the style of a compiler: a label and a text. */
export interface FindingTextLine {
  /**
   * `place` and `excerpt` must not be wrapped. `copied` is text for the user to copy. All other lines are sentences.
   */
  readonly role: 'headline' | 'place' | 'excerpt' | 'note' | 'help' | 'copied';
  /** The start of the line, including its indent. */
  readonly label: string;
  readonly text: string;
}

/** The maximum number of addresses listed for a refusal. The changes are shown below. */
const MAX_LISTED = 10;

/**
 * The unwrapped lines of a finding: the message, its position, the resources that a refusal is about, the related places,
 * the remedy. All lines except the first are indented.
 */
export function listFindingLines(
  finding: ShownFinding,
  { excerpts, findInvocation }: Pick<FormatOptions, 'excerpts' | 'findInvocation'>,
): readonly FindingTextLine[] {
  const { level, nature, rule, message, remedy, place, related = [] } = finding;
  const addresses = listUnmentionedAddresses(finding);
  const hidden = addresses.length - MAX_LISTED;
  const listed = [...addresses.slice(0, MAX_LISTED), ...(hidden > 0 ? [`… and ${hidden} more`] : [])];
  return [
    { role: 'headline', label: `${nature === 'refusal' ? 'refused' : level}[${rule}]:`, text: message },
    ...listPlaceLines(place, { subject: findUnmentionedAddress(finding), excerpts }),
    ...listed.map((text) => ({ role: 'copied', label: '   ', text }) as const),
    ...related.flatMap((one): readonly FindingTextLine[] => [
      { role: 'note', label: '  note:', text: one.message },
      ...listPlaceLines(one.place, { excerpts }),
    ]),
    ...(remedy === undefined ? [] : formatRemedyLines(nameCalls(remedy, findInvocation))),
    ...listLines(place && excerpts?.renderCorrected(place)).map(
      (text) => ({ role: 'excerpt', label: ' ', text }) as const,
    ),
  ];
}

/** Matches `edgewise` where a command or an option follows, and no verb of a sentence. */
const CALL =
  /(?<![\w./-])edgewise (?=(?:abuse-\w+|accept|apply|completion|destroy|diff|drift|explain|export|get|help|init|plan|post|release|schema|serve|show|stacks|test-policy|validate)\b|--)/g;

/** Says in a remedy how the user can call edgewise, so that its commands can be copied. */
export function nameCalls(remedy: string, findInvocation: FormatOptions['findInvocation']): string {
  return findInvocation === undefined ? remedy : remedy.replace(CALL, () => `${findInvocation()} `);
}

/** Lines of a remedy: a sentence, then lines for the user to copy. The text must be printable. */
function formatRemedyLines(remedy: string): readonly FindingTextLine[] {
  const label = '  help:';
  const [sentence = '', ...lines] = remedy.split('\n');
  const indent = ' '.repeat(label.length);
  return [
    { role: 'help', label, text: sentence },
    ...lines.map((text): FindingTextLine => ({ role: 'copied', label: indent, text })),
  ];
}

/** Lines for a place: position and excerpt. `subject`: an address to show in parentheses. Texts must be printable. */
export function listPlaceLines(
  place: Place | undefined,
  { subject, excerpts }: Pick<FormatOptions, 'excerpts'> & { readonly subject?: string | undefined },
): readonly FindingTextLine[] {
  const name = subject === undefined ? '' : `(${subject})`;
  if (place === undefined) return name === '' ? [] : [{ role: 'excerpt', label: ' ', text: name }];
  const lines = listLines(excerpts?.render(place));
  return [
    { role: 'place', label: `  --> ${place.file}:${place.line}:${place.column}`, text: name },
    ...lines.map((text): FindingTextLine => ({ role: 'excerpt', label: ' ', text })),
  ];
}

/** The printable lines of an excerpt. Empty if nothing may be quoted. */
export function listLines(excerpt: string | undefined): readonly string[] {
  return (excerpt ?? '').split('\n').filter((line) => line.trim() !== '');
}

/** An error that is not a diagnostic. */
type ErrorView = Pick<ErrorBlock, 'lines' | 'remedy'>;

/** The lines of an error, which are printable, and its remedy. */
export function createErrorView(error: NonNullable<Failure['error']>, { command, service }: Failure): ErrorView {
  if (!(error instanceof Error)) return withRemedy(toPrintableLines(error.message), error.remedy);
  const message = toPrintable(error.message);
  if (error instanceof ApiError || error instanceof NetworkError) {
    return withRemedy(
      [
        message,
        ...(service !== undefined && isAboutConnection(error) ? [toPrintable(service)] : []),
        ...(READING.has(command ?? '') ? [UNREAD] : []),
      ],
      findServiceErrorRemedy(error, command),
    );
  }
  return withRemedy(
    [message, ...toPrintableLines(error.stack ?? '')],
    'This is a bug in edgewise. Please report it with the lines above.',
  );
}

/** Whether the host or the API key may be the wrong one. */
function isAboutConnection(error: ApiError | NetworkError): boolean {
  return error instanceof ApiError ? error.isAuthentication || error.response.status === 404 : error.isUnsent;
}

function withRemedy(lines: readonly string[], remedy: string | undefined): ErrorView {
  return { lines, remedy: remedy === undefined ? undefined : toPrintableLines(remedy).join('\n') };
}

/**
 * These commands send only reads until they have a plan. An error before that therefore means that nothing was written.
 * Later errors are in the result of the apply.
 */
const READING: ReadonlySet<string> = new Set(['plan', 'apply', 'destroy']);
const UNREAD = 'Not all live resources could be read, so there is no plan. Nothing was written.';

/** The remedy for an error response of the service. Undefined unless it is about the API key, or a kind that is not there. */
export function findServiceErrorRemedy(error: Error, command?: string): string | undefined {
  if (error instanceof NetworkError && error.isUnsent) return 'Check the base URL, and whether the service runs.';
  if (!(error instanceof ApiError)) return undefined;
  const kind = findDeniedKind(error.response);
  const [check, place] = error.isAuthentication
    ? ['Check the API key and its permissions.', 'account']
    : ['Check the base URL.', 'service'];
  if (kind === undefined) return error.isAuthentication || error.response.status === 404 ? check : undefined;
  const others = OWNED_KINDS.filter((other) => other !== kind).map(({ name }) => name);
  const way =
    command === 'export'
      ? `name the kinds to export:\nedgewise export ${others.join(' ')}`
      : `list the kinds that the stack uses in its Stack, and only those are read:\nspec: { kinds: [${others.join(', ')}] }`;
  return `${check} If the ${place} has no ${kind.title}, ${way}`;
}

/**
 * The kind whose list was denied with a 403, or does not exist (404). The same key may read other kinds, so the account or
 * the service may lack this kind. Undefined for any other response.
 */
function findDeniedKind({ method, path, status }: ApiError['response']): Kind | undefined {
  const [place] = path.split('?', 1);
  return method === 'GET' && (status === 403 || status === 404)
    ? OWNED_KINDS.find((kind) => place?.endsWith(kind.path))
    : undefined;
}

/**
 * The position of a place in the repository. For output of a tool, it is line 1 of the source file that the tool names,
 * because the exact line is unknown. Undefined for standard input that names no source file.
 */
export function findRepositoryPosition(
  { file, line, column, origin }: Place,
  {
    toRepositoryPath = (path) => path,
    toOriginPath = (path) => path,
  }: Pick<FormatOptions, 'toRepositoryPath' | 'toOriginPath'>,
): Place | undefined {
  if (origin !== undefined) return { file: toOriginPath(origin, file), line: 1, column: 1 };
  if (file === '<stdin>') return undefined;
  return { file: toRepositoryPath(file), line: Math.max(1, line), column: Math.max(1, column) };
}

/**
 * Returns a function that finds the label and the page of a place, at the commit that the plan was made from. It
 * returns undefined for standard input.
 */
export function createPlaceLinks(
  { made }: Pick<Plan, 'made'>,
  options: FormatOptions,
): (place: Place) => Omit<PlaceLink, 'line'> | undefined {
  const { commit, filesUrl } = options.pipeline ?? {};
  const base = made?.commit === commit ? filesUrl : undefined;
  return (place) => {
    const position = findRepositoryPosition(place, options);
    if (position === undefined) return undefined;
    const label = place.origin === undefined ? `${position.file}:${position.line}` : position.file;
    return { label: toPrintable(label), page: findFilePage(base, position) };
  };
}

/** The forge's page for a line of a file. Undefined if the forge is unknown, or the file outside the repository. */
function findFilePage(filesUrl: string | undefined, { file, line }: Place): string | undefined {
  const steps = file.split('/').filter((step) => step !== '.');
  const isInside = !file.startsWith('/') && !steps.some((step) => step === '..' || step === '');
  if (filesUrl === undefined || !isInside || !file.isWellFormed()) return undefined;
  return `${filesUrl}${steps.map(encodeUrlStep).join('/')}#L${line}`;
}

/** Percent-encodes a step of a path for a URL, even the characters that need it only in Markdown. */
function encodeUrlStep(step: string): string {
  return encodeURIComponent(step).replace(/[!'()*~_]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
