import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Composer, Parser, Schema } from 'yaml';
import { createAllowance, parseWithin } from '../../src/manifest/lex.ts';
import { parseDocuments } from '../../src/manifest/parse.ts';
import { readPlainDocument } from '../../src/manifest/plain-yaml.ts';
import { toValue } from '../../src/manifest/yaml-value.ts';
import { toTries } from '../tries.ts';

/** What the parser alone says of a text. */
function parse(text: string) {
  const allowance = createAllowance();
  const documents = [...new Composer(OPTIONS).compose(parseWithin(new Parser(), text, allowance))];
  const said = documents.map(({ contents, errors, warnings, range }) => {
    const { value, faults } = toValue(contents, { env: {}, text });
    return {
      value: JSON.stringify(value),
      start: range[0],
      isFaulty: errors.length + warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED').length + faults.length > 0,
    };
  });
  return { said, words: allowance.limits.words - allowance.words };
}

const OPTIONS = {
  schema: new Schema({ schema: 'core', resolveKnownTags: false, merge: false }),
  stringKeys: true,
  uniqueKeys: false,
} as const;

/** Compares what a text of one document says with and without the parser; false: it is left to the parser. */
function compare(text: string): boolean {
  const plain = readPlainDocument(text, 0);
  if (plain === undefined || plain.end !== text.length) return false;
  const { said, words } = parse(text);
  expect(said, text).toEqual([{ value: JSON.stringify(plain.value), start: plain.start, isFaulty: false }]);
  expect(plain.words, text).toBe(words);
  return true;
}

/** Compares all that a text of several documents says: a fault may be told of the document before it or after it. */
function compareAll(text: string): void {
  const { said } = parse(text);
  const read = [...parseDocuments(text, {})];
  const isFaulty = read.some(({ faults }) => faults.length > 0);
  expect(isFaulty, text).toBe(said.some((one) => one.isFaulty));
  if (isFaulty) return;
  const found = read.map(({ value, span }) => ({
    value: JSON.stringify(value),
    start: span.start,
  }));
  expect(found, text).toEqual(said.map(({ value, start }) => ({ value, start })));
}

/** What lines are made of: what is plain, and what looks as if it were. */
const PIECES = [
  ...[
    'a',
    'b',
    'name',
    'key-1',
    'x/y',
    'External/blue',
    'null',
    'true',
    'True',
    '1',
    '01',
    '1.5',
    '0x1f',
    '1e3',
    '.5',
    '-1',
    '+2',
    '~',
  ],
  ...[
    '12345678901234567890',
    '0o7',
    '.inf',
    '.nan',
    '1_000',
    '2001-01-01',
    '12:30',
    'é',
    '日本',
    '\u00a0',
    '\u2028',
    '\t',
    '\r',
    '$',
    `$${''}{env:A}`,
  ],
  ...[
    ': ',
    ':',
    ' ',
    '  ',
    '\n',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
    '\n---\n',
    '\n...\n',
    '\n--- ',
    ' #',
    '#',
    ' # c',
    '\n# c\n',
    '\n\n',
  ],
  ...[
    '- ',
    '-',
    '? ',
    '|',
    '>',
    '&a ',
    '*a',
    '!t ',
    '%',
    '@',
    '`',
    '"',
    "'",
    '"a b"',
    "'it''s'",
    '"\\n"',
    '[',
    ']',
    '{',
    '}',
    ',',
    ', ',
  ],
  ...[
    '{ a: 1 }',
    '[a, "b"]',
    '[]',
    '{}',
    '[a:1, b]',
    '{ a: [1, 2] }',
    '{a: }',
    '[a,]',
    '<<: ',
    '__proto__: ',
    '=',
    '<',
    'a: b',
    'c: "d"',
  ],
];

/** Values of a line: mostly plain ones. */
const VALUE = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '',
      'a',
      'b c',
      '1',
      'true',
      '"q"',
      "'r s'",
      '[a, b]',
      '{ k: v }',
      '00001.example.net:5432',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(...PIECES) },
);

/** Lines of keys and members, at depths that fit or not, with something behind the value now and then. */
const LINE = fc
  .tuple(
    fc.constantFrom(0, 0, 0, 2, 2, 4, 1, 3),
    fc.constantFrom('a: ', 'b: ', 'c: ', 'd:', '- ', '- e: ', '- f:', 'g', ''),
    VALUE,
    fc.oneof({ weight: 8, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(' # c', ...PIECES) }),
  )
  .map(([depth, key, value, rest]) => `${' '.repeat(depth)}${key}${value}${rest}`);

/** Plain, in every way that there is. */
const WHOLE = `# a comment
apiVersion: edgewise/v1
kind: TCPEdge # another
metadata: { name: postgres, labels: {team: data} }

spec:
  description: It's for the data team (90 %) é 日本
  hostports:
  - 00001.tcp.example.net:5432
  - "b"
  # in between
  rules:
    - expressions: [a, 'b c', "d: e", 1:2]
      count: 12
      enabled: true
    - empty:
      none: {}
  last: 'x'
lint:
`;

/** A plain document with up to three changes: something put in somewhere in the place of some characters. */
const CHANGED = fc
  .array(fc.tuple(fc.nat(WHOLE.length), fc.nat(6), fc.constantFrom('', ...PIECES)), { maxLength: 3 })
  .map((changes) =>
    changes.reduce((text, [at, length, piece]) => `${text.slice(0, at)}${piece}${text.slice(at + length)}`, WHOLE),
  );

const TEXT = fc.oneof(
  { weight: 4, arbitrary: CHANGED },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')) },
  {
    weight: 4,
    arbitrary: fc.array(LINE, { maxLength: 8 }).map((lines) => lines.map((line) => line.trimEnd()).join('\n')),
  },
);

describe('what is read without the parser', () => {
  it('is what the parser says, whatever the text is', () => {
    let plain = 0;
    fc.assert(
      fc.property(TEXT, fc.boolean(), (text, isEnded) => {
        plain += compare(isEnded ? `${text}\n` : text) ? 1 : 0;
      }),
      { numRuns: toTries(20_000) },
    );
    expect(plain).toBeGreaterThan(500);
  });

  it('is what the parser says among documents that are left to it', () => {
    fc.assert(
      fc.property(fc.array(TEXT, { maxLength: 4 }), (texts) => compareAll(texts.join('\n---\n'))),
      { numRuns: toTries(4_000) },
    );
  });

  it('is what the parser says of every manifest there is', () => {
    const texts = globSync('{examples,test/scenarios}/**/*.yaml').map((file) => readFileSync(file, 'utf8'));
    const documents = texts.flatMap((text) => text.split(/^---\n/m)).filter((text) => text !== '');
    const plain = documents.filter(compare);
    expect(plain.length / documents.length).toBeGreaterThan(0.6);
  });
});
