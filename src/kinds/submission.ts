import type { Field, FieldType } from './field.ts';

/**
 * What a submitted kind says besides its fields: how a command line states one, and how the service decides about it, part by part.
 */
export interface Submission {
  /** What it is called in short: `report`. */
  readonly noun: string;
  /** What one does by submitting it: `report URLs with suspected abusive content`. */
  readonly purpose: string;
  /** The field that holds the words of the command line. Every other field that can be stated is an option. */
  readonly words: string;
  /** Two words that may stand there. */
  readonly examples: readonly [string, string];
  /** The computed field that says how far it is, and its value once everything is decided. */
  readonly status: { readonly field: string; readonly decided: string };
  readonly parts: SubmissionParts;
}

/** The computed list of what is decided about: each part has a name and a status. */
export interface SubmissionParts {
  readonly field: string;
  /** For people: `host name`. */
  readonly title: string;
  readonly name: string;
  readonly status: string;
  /** What each status stands for. */
  readonly decisions: Readonly<Record<string, Decision>>;
}

/** What was decided about a part; `open`: nothing yet. */
export type Decision = 'open' | 'rejected' | 'accepted' | 'ignored';

type Fields = Readonly<Record<string, Field>>;

/** What contradicts the fields of the table; `undefined`: nothing. */
export function findSubmissionFault(fields: Fields, submission: Submission): string | undefined {
  const { words, status, parts } = submission;
  const list = fields[words]?.type;
  if (list?.type !== 'list' || list.of.type !== 'text') return `${words} is no list of texts`;
  const odd = Object.entries(fields).find(([name, field]) => name !== words && isStated(field) && !isText(field));
  if (odd !== undefined) return `${odd[0]} is no text, so no option can state it`;
  if (!listValues(fields[status.field]?.type).includes(status.decided))
    return `${status.field} is never ${status.decided}`;
  const part = fields[parts.field]?.type;
  const members = part?.type === 'list' && part.of.type === 'object' ? part.of.fields : {};
  if (members[parts.name]?.type.type !== 'text') return `the members of ${parts.field} have no ${parts.name}`;
  const statuses = listValues(members[parts.status]?.type);
  if (statuses.join() !== Object.keys(parts.decisions).join())
    return `not every status of ${parts.field} is a decision`;
  return undefined;
}

/** `a report`, `an inquiry`. */
export function toIndefinite(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

function isStated({ lifecycle }: Field): boolean {
  return lifecycle === 'mutable' || lifecycle === 'immutable';
}

function isText({ type }: Field): boolean {
  return type.type === 'text' || type.type === 'metadata';
}

function listValues(type: FieldType | undefined): readonly string[] {
  return type?.type === 'enum' ? type.values : [];
}
