/** Which names look like those of secrets. What has such a name, and all that is below it, is hidden. */

const ANYWHERE = /token|secret|password|passwd|credential|authorization|cookie/i;

/** Words with `key` in them that name no secret. In other words and spellings, such as `apikey`, it does. */
const PLAIN_WORDS: ReadonlySet<string> = new Set(
  [
    ...['donkey', 'hockey', 'jockey', 'keyboard', 'keyframe', 'keynote', 'keypad', 'keypress', 'keystone', 'keystroke'],
    ...['keyword', 'lackey', 'monkey', 'turkey', 'turnkey', 'whiskey'],
  ].flatMap((word) => [word, `${word}s`]),
);

/** The words of a name: `X-Api-Key`, `apiKey`, `api_key` and `APIKey` have the words api and key. */
const WORD = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+/gu;

/** Whether a name, such as `X-Api-Key` or `client_secret`, looks like that of a secret. */
export function isNameOfSecret(name: string): boolean {
  if (ANYWHERE.test(name)) return true;
  const words = name.match(WORD) ?? [];
  const rest = words.filter((word) => !PLAIN_WORDS.has(word.toLowerCase()));
  // Words that are not plain are joined again, so that no way of dividing a name shows what it hides.
  return /key/i.test(rest.length === words.length ? name : rest.join(''));
}
