import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { parseDocuments } from '../../src/manifest/parse.ts';

const FIRST = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
const RESTS = [
  '',
  '1',
  '1.5',
  '.5',
  '5e3',
  '.inf',
  '.Inf',
  '.NAN',
  'inf',
  'o17',
  'xFF',
  '0o7',
  '0xa',
  'ull',
  'ULL',
  'rue',
  'RUE',
  'alse',
  'ALSE',
];

it('a text without quotes is what the core schema of YAML makes of it, whatever it starts with', () => {
  const texts = FIRST.flatMap((first) => RESTS.map((rest) => `a: ${first}${rest}`));
  const valid = texts.filter((text) => parseDocument(text).errors.length === 0);
  expect(valid.length).toBeGreaterThan(1_000);
  for (const text of valid) {
    const [document] = parseDocuments(text, NO_ENVIRONMENT);
    // Numbers that no JSON can hold are faults of their own.
    if (document?.findings.length === 0) expect([text, document.value]).toEqual([text, toCore(text)]);
  }
});

function toCore(text: string): unknown {
  return parseDocument(text, { schema: 'core', version: '1.2' }).toJS();
}
