import { escapePath } from '../../model/shell-words.ts';
import { getRequestFlag, NAMED_REQUEST_OPTIONS, type Request } from '../../settings/request.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import type { TokenFlags } from '../../stack/choose-sinks.ts';

/** Flags that say what a plan covers, what it may do, and where it is made. */
export interface PlanFlags extends Request, ConnectionFlags, TokenFlags {
  /** The variables that manifests may read. */
  readonly env?: readonly string[];
}

/** The words that repeat the flags of a plan, without those of the connection, of variables and of token sinks. */
export function listPlanWords(flags: Request): readonly string[] {
  return NAMED_REQUEST_OPTIONS.flatMap((option) => listFlagWords(option, flags));
}

/** The words that are for a single stack, without the addresses. */
export function listWordsForOneStack(flags: Request): readonly string[] {
  const options = NAMED_REQUEST_OPTIONS.filter(({ isForOneStack }) => isForOneStack);
  return options.flatMap((option) => listFlagWords(option, flags).slice(0, 1));
}

function listFlagWords(option: (typeof NAMED_REQUEST_OPTIONS)[number], flags: Request): readonly string[] {
  const word = getRequestFlag(option.name);
  if (word === '') return [];
  const value = flags[option.name];
  if (typeof value === 'object') return value.flatMap((one) => [word, option.value === 'path' ? escapePath(one) : one]);
  const isGiven = value === !word.startsWith('--no-');
  return isGiven ? [word] : [];
}
