import type { Kind } from '../../kinds/kind.ts';
import { OWNED_KINDS } from '../../kinds/tables/registry.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { ApiError, NetworkError } from '../../model/errors.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Failure } from '../report.ts';
import { toPrintableDiagnostic } from './diagnostic-view.ts';
import { toPrintableLines } from './escape.ts';

/** The one view of why a command did not complete that all forms for people share: printable texts. */
export interface FailureView {
  readonly diagnostics: readonly Diagnostic[];
  /** Absent where the diagnostics say it all. */
  readonly error?: ErrorView;
}

/** What went wrong besides, and what to do about it. */
export interface ErrorView {
  /** The first is the message, the others say more. One that holds what a service said is a single line, so that nobody can forge others. */
  readonly lines: readonly string[];
  /** May have lines of its own. */
  readonly remedy?: string;
}

/** The view of a failure. */
export function toFailureView({ command, diagnostics = [], error }: Failure): FailureView {
  return {
    diagnostics: diagnostics.map(toPrintableDiagnostic),
    ...(error !== undefined && { error: toErrorView(error, command) }),
  };
}

function toErrorView(error: NonNullable<Failure['error']>, command: string | undefined): ErrorView {
  if (!(error instanceof Error)) return withRemedy(toPrintableLines(error.message), error.remedy);
  const message = toPrintable(error.message);
  if (error instanceof ApiError || error instanceof NetworkError) {
    return withRemedy([message, ...(READING.has(command ?? '') ? [UNREAD] : [])], toRemedy(error, command));
  }
  return withRemedy(
    [message, ...toPrintableLines(error.stack ?? '')],
    'This is a bug in edgewise. Please report it with the lines above.',
  );
}

function withRemedy(lines: readonly string[], remedy: string | undefined): ErrorView {
  return { lines, ...(remedy !== undefined && { remedy: toPrintableLines(remedy).join('\n') }) };
}

/** Commands that only read before they have a plan; what goes wrong later stands in their result. */
const READING: ReadonlySet<string> = new Set(['plan', 'apply', 'destroy']);
const UNREAD = 'Not all live resources could be read, so there is no plan. Nothing was written.';

/** What to do about what a service said; nothing where only it can know. */
export function toRemedy(error: Error, command?: string): string | undefined {
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

/** The kind whose list may not be read: the key may read others, so that is about a feature of the account. */
function findForbiddenKind({ method, path, status }: ApiError['response']): Kind | undefined {
  const [place] = path.split('?', 1);
  return method === 'GET' && status === 403 ? OWNED_KINDS.find((kind) => place?.endsWith(kind.path)) : undefined;
}
