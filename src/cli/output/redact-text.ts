import { toHarmlessJson } from '../../model/job-commands.ts';
import { parseJson, toJsonText } from '../../model/json.ts';
import type { SecretRedactor } from '../../model/secrets.ts';

/**
 * Redacts the secrets of a run in a text that leaves the process. JSON stays JSON: in it, each text and each number is
 * redacted by its value, so that a number becomes a text, and no escape hides where a word begins.
 */
export function redactText(text: string, { redact }: Pick<SecretRedactor, 'redact'>): string {
  const unescaped = text.replace(ESCAPE, '\n');
  const isJson = /^\s*[[{]/.test(text) && redact(unescaped) !== unescaped && parseJson(text) !== undefined;
  if (!isJson) return redact(text);
  return text.replace(SCALAR, (scalar) => {
    const value = scalar.startsWith('"') ? toJsonText(parseJson(scalar)) : scalar;
    const redacted = redact(value);
    return redacted === value ? scalar : toHarmlessJson(JSON.stringify(redacted));
  });
}

/** Matches what may stand in JSON for another character than its last one. */
const ESCAPE = /\\(?:[bfnrt]|u[0-9a-f]{4})/gi;

/** Matches the texts, keys and numbers in JSON. */
const SCALAR = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
