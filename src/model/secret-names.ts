/** Which names look like those of secrets. What has such a name, and all that is below it, is hidden. */

const SECRET = /token|secret|password|passwd|credential|authorization|cookie|key/i;

/** Words with `key` in them that name no secret. In other words and spellings, such as `apikey`, it does. */
const PLAIN_WORDS = [
  ...['donkey', 'hockey', 'jockey', 'keyboard', 'keyframe', 'keynote', 'keypad', 'keypress', 'keystone', 'keystroke'],
  ...['keyword', 'lackey', 'monkey', 'turkey', 'turnkey', 'whiskey'],
];

/** Words that name no secret together, in any spelling, such as `maxTokens`. */
const PLAIN_NAMES = [
  ...['public keys?', 'key (?:type|size|length)', '(?:max|min) tokens', 'tokens? (?:limit|count)', 'tokens per'],
];

const PLAIN = new RegExp(`(?<![^ ])(?:(?:${PLAIN_WORDS.join('|')})s?|${PLAIN_NAMES.join('|')})(?![^ ])`, 'g');

/** The words of a name: `X-Api-Key`, `apiKey`, `api_key` and `APIKey` have the words api and key. */
const WORD = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu;

/** Whether a name, such as `X-Api-Key` or `client_secret`, looks like that of a secret. */
export function isNameOfSecret(name: string): boolean {
  const words = (name.match(WORD) ?? []).join(' ').toLowerCase();
  const rest = words.replace(PLAIN, '');
  // Words that are not plain are joined again, so that no way of dividing a name shows what it hides.
  return SECRET.test(rest === words ? name : rest.replaceAll(' ', ''));
}
