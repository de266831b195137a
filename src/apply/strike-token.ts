const STANDS_FOR_TOKEN = '[token]';

/** A run of at least this many characters counts as part of the token, not as a word that happens to match. */
const PIECE_LENGTH = 8;

/**
 * The text with every piece of a token struck out: as it is, in base64 at any offset, URL-encoded, escaped, in hex or in other codes of its
 * characters, in any case, and broken over lines or by other characters in between. Parts of it that are at least eight characters long count.
 */
export function strikeToken(text: string, token: string): string {
  const pieces = listPieces(token);
  const { letters, places } = toLetters(text);
  let struck = '';
  let end = 0; // of what is copied or struck out
  for (let at = 0; at < letters.length; at += 1) {
    const length = pieces.lengths.find((size) => pieces.texts.has(letters.slice(at, at + size)));
    if (length === undefined) continue;
    const [start = 0, last = 0] = [places[at], places[at + length - 1]];
    if (start >= end) struck += `${text.slice(end, start)}${STANDS_FOR_TOKEN}`;
    end = Math.max(end, last + 1);
  }
  return struck + text.slice(end);
}

interface Pieces {
  readonly texts: ReadonlySet<string>;
  readonly lengths: readonly number[];
}

/** Every run of letters and digits that only a form of the token has; of a form that is shorter, all of it. */
function listPieces(token: string): Pieces {
  const texts = new Set(listForms(token).flatMap(listRuns));
  return { texts, lengths: [...new Set(Array.from(texts, ({ length }) => length))] };
}

function listRuns(form: string): readonly string[] {
  const { letters } = toLetters(form);
  if (letters.length <= PIECE_LENGTH) return letters === '' ? [] : [letters];
  return Array.from({ length: letters.length - PIECE_LENGTH + 1 }, (_, at) => letters.slice(at, at + PIECE_LENGTH));
}

function listForms(token: string): readonly string[] {
  const bytes = Buffer.from(token, 'utf8');
  const codes = (prefix: string, radix: number, width: number) =>
    Array.from(bytes, (byte) => `${prefix}${byte.toString(radix).padStart(width, '0')}`).join('');
  return [
    token,
    JSON.stringify(token),
    encodeURIComponent(token),
    token.replace(/[^A-Za-z0-9]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`),
    ...[0, 1, 2].map((offset) => toBase64(bytes, offset)),
    codes('', 16, 2),
    codes('x', 16, 2),
    codes('0x', 16, 2),
    codes('u', 16, 2),
    codes('u', 16, 4),
    codes('', 10, 1),
    codes('', 8, 3),
  ];
}

/** What base64 shows of bytes with others in front of them and behind, whatever those are. */
function toBase64(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  return padded.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
}

/** The letters and digits of a text, in lower case, and where each stands in it. */
function toLetters(text: string): { readonly letters: string; readonly places: readonly number[] } {
  const places = Array.from(text.matchAll(/[A-Za-z0-9]/g), ({ index }) => index);
  return { letters: places.map((index) => text.charAt(index).toLowerCase()).join(''), places };
}
