import type { Json } from '../model/json.ts';

/** The value of a JSON text; `undefined` when it is none. The parser's own message is dropped: it quotes the text. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
