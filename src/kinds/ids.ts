import type { ReferenceType } from './field.ts';

/**
 * Ids: a prefix for the type of resource, an underscore, and a text chosen by the service. That text needs no escape in a URL; anything
 * with other characters was not copied as a whole, or is no id.
 */

const OWN_TEXT = '[A-Za-z0-9._~-]+';
const ID = new RegExp(`^[a-z]+_${OWN_TEXT}$`);

/** Where ids of some prefixes are expected. */
type Prefixes = Pick<ReferenceType, 'prefixes'>;

/** The regular expression of ids with one of the prefixes, without anchors. */
export function toIdPattern({ prefixes }: Prefixes): string {
  return `(${prefixes.join('|')})_${OWN_TEXT}`;
}

/** Whether a text has the form of an id, of whatever it is. */
export function isWellFormedId(text: string): boolean {
  return ID.test(text);
}

/** Whether a text is an id with one of the prefixes. */
export function isIdOf({ prefixes }: Prefixes, text: string): boolean {
  return isWellFormedId(text) && prefixes.includes(toPrefix(text));
}

/** The ids that are expected, in words: `bkdhr_… or bkdtg_…`. */
export function describeIds({ prefixes }: Prefixes): string {
  return prefixes.map((prefix) => `${prefix}_…`).join(' or ');
}

/** What is wrong with a text that starts like one of these ids but is none; follows the name of its place in a message. `undefined`: nothing. */
export function describeMalformedId(expected: Prefixes, text: string): string | undefined {
  const prefix = toPrefix(text);
  if (!expected.prefixes.includes(prefix) || isIdOf(expected, text)) return undefined;
  return `\`${text}\` is not an id: \`${prefix}_\` is followed by letters, digits, \`.\`, \`_\`, \`~\` and \`-\` only`;
}

function toPrefix(text: string): string {
  return text.slice(0, Math.max(text.indexOf('_'), 0));
}
