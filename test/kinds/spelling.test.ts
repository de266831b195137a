import { describe, expect, it } from 'vitest';
import { normalizeField } from '../../src/kinds/canonical.ts';
import { isSpellingOf } from '../../src/kinds/spelling.ts';
import { DESCRIPTION, METADATA } from '../../src/kinds/tables/standard-fields.ts';
import type { Json } from '../../src/model/json.ts';

const isSpelling = (field: typeof DESCRIPTION, live: Json, desired: Json): boolean =>
  isSpellingOf(field, normalizeField(field, live), normalizeField(field, desired));

/**
 * Each text in another spelling, and what this must not explain: another host, another word, one more digit, an empty
 * text, each in the same spelling.
 */
const DESCRIPTIONS: readonly {
  readonly spelling: string;
  readonly desired: string;
  readonly live: string;
  readonly others: readonly string[];
}[] = [
  {
    spelling: 'white space around it',
    desired: '  db.example.com port 5432 ',
    live: 'db.example.com port 5432',
    others: ['db.example.net port 5432', 'old db.example.com port 5432', 'db.example.com port 54321', '', ' '],
  },
  {
    spelling: 'repeated white space',
    desired: 'db.example.com  port   5432',
    live: 'db.example.com port 5432',
    others: ['db.example.net port 5432', 'db.example.com no port 5432', 'db.example.com port 5 432', ''],
  },
  {
    spelling: 'line ends',
    desired: 'db.example.com\r\nport 5432\r\n',
    live: 'db.example.com\nport 5432',
    others: ['db.example.net\nport 5432', 'db.example.com\nports 5432', 'db.example.com\nport 54320', '\n'],
  },
  {
    spelling: 'a form of Unicode',
    desired: 'Cafe\u0301 db.example.com １２',
    live: 'Café db.example.com 12',
    others: ['Café db.example.net 12', 'Cafe db.example.com 12', 'Café db.example.com 123', ''],
  },
  {
    spelling: 'escaped entities',
    desired: 'R&D <db.example.com> 7',
    live: 'R&amp;D &lt;db.example.com&gt; 7',
    others: [
      'R&amp;D &lt;db.example.net&gt; 7',
      'R and D &lt;db.example.com&gt; 7',
      'R&amp;D &lt;db.example.com&gt; 77',
      '',
    ],
  },
  {
    spelling: 'entities that are escaped twice',
    desired: "it's db.example.com 7",
    live: 'it&amp;amp;#x27;s db.example.com 7',
    others: [
      'it&amp;amp;#x27;s db.example.net 7',
      'it&amp;amp;#x27;s a db.example.com 7',
      'it&#39;s db.example.com 70',
      '',
    ],
  },
  {
    spelling: 'case',
    desired: 'Straße ΟΔΟΣ DB.example.com 7',
    live: 'straße οδοσ db.example.com 7',
    others: ['straße οδοσ db.example.net 7', 'straße οδο db.example.com 7', 'straße οδοσ db.example.com 17', ''],
  },
  {
    spelling: 'a cut after 32 bytes',
    desired: 'Postgres of the shop, db.example.com:5432, owned by data',
    live: 'Postgres of the shop, db.example',
    others: [
      'Postgres of the shop, db.exampl',
      'Postgres of the shop, db.examples',
      'Postgres of the shop',
      'Redis of the shop',
      '',
    ],
  },
  {
    spelling: 'a cut within a character',
    desired: 'Postgres of the shop in Zuerich é, example.com',
    live: 'Postgres of the shop in Zuerich �',
    others: ['Postgres of the shop in Zuerich e', 'Postgres of the shop �', '�', ''],
  },
];

describe('a live description', () => {
  it.each(DESCRIPTIONS)('may differ from the desired one in $spelling', ({ desired, live }) => {
    expect(isSpelling(DESCRIPTION, live, desired)).toBe(true);
  });

  it.each(
    DESCRIPTIONS.flatMap(({ spelling, desired, others }) => others.map((other) => ({ spelling, desired, other }))),
  )('is not explained by $spelling if it is $other', ({ desired, other }) => {
    expect(isSpelling(DESCRIPTION, other, desired)).toBe(false);
  });

  it('may not be longer than the desired one, and a cut is no text', () => {
    const text = 'Postgres of the shop, db.example.com:5432';
    expect(isSpelling(DESCRIPTION, `${text}1`, text)).toBe(false);
    expect(isSpelling(DESCRIPTION, '', `${' '.repeat(40)}x`)).toBe(false);
    expect(isSpelling(DESCRIPTION, `Blue${' '.repeat(40)}x`, 'Blue pool of the shop in Europe and Asia')).toBe(false);
    expect(isSpelling(DESCRIPTION, `${'&#32;'.repeat(40)}Blue`, 'Blue pool of the shop in Europe and Asia')).toBe(
      false,
    );
  });

  it('is compared in a time that grows with its length', () => {
    const live = `&${'amp;'.repeat(250_000)} ${' '.repeat(250_000)}`;
    const start = performance.now();
    expect(isSpelling(DESCRIPTION, live, 'x'.repeat(255))).toBe(false);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

const METADATAS: readonly {
  readonly spelling: string;
  readonly desired: Json;
  readonly live: Json;
  readonly others: readonly Json[];
}[] = [
  {
    spelling: 'white space in a value',
    desired: { host: ' db.example.com ', port: '5432' },
    live: { host: 'db.example.com', port: '5432' },
    others: [
      { host: 'db.example.net', port: '5432' },
      { host: 'old db.example.com', port: '5432' },
      { host: 'db.example.com', port: '54321' },
      { host: '', port: '5432' },
      { host: 'db.example.com' },
      '',
    ],
  },
  {
    spelling: 'members that are null',
    desired: { host: 'db.example.com', note: null },
    live: { host: 'db.example.com' },
    others: [{ host: 'db.example.net' }, { host: 'db.example.com', note: '' }, { host: null }, ''],
  },
  { spelling: 'nothing but nulls', desired: { note: null }, live: '', others: [{ note: '' }, { note: 0 }, 'note'] },
  {
    spelling: 'numbers as text',
    desired: { port: 5432, share: 0.5 },
    live: { port: '5432', share: '0.5' },
    others: [
      { port: '54321', share: '0.5' },
      { port: '5432', share: '0.50' },
      { port: '', share: '0.5' },
      { port: 'db', share: '0.5' },
      { port: 5432 },
    ],
  },
  {
    spelling: 'text that is JSON of the same value',
    desired: '{"b": 1.0, "a": ["x"]}',
    live: { a: ['x'], b: 1 },
    others: [
      { a: ['x', 'x'], b: 1 },
      { a: ['y'], b: 1 },
      { a: 'x', b: 1 },
      { a: ['x'], b: 11 },
      { a: [], b: 1 },
    ],
  },
  {
    spelling: 'escaped entities',
    desired: { team: 'R&D', url: 'https://db.example.com/?a=1&b=2' },
    live: { team: 'R&amp;D', url: 'https://db.example.com/?a=1&amp;b=2' },
    others: [
      { team: 'R&amp;D', url: 'https://db.example.net/?a=1&amp;b=2' },
      { team: 'R&amp;D', url: 'https://db.example.com/?a=1&amp;b=22' },
      { team: '', url: 'https://db.example.com/?a=1&amp;b=2' },
    ],
  },
  {
    spelling: 'white space in a text',
    desired: 'owned  by\tdata',
    live: 'owned by data',
    others: ['owned by dat', 'Owned by data', 'owned by data 1', ''],
  },
];

describe('live metadata', () => {
  it.each(METADATAS)('may differ from the desired one in $spelling', ({ desired, live }) => {
    expect(isSpelling(METADATA, live, desired)).toBe(true);
  });

  it.each(METADATAS.flatMap(({ spelling, desired, others }) => others.map((other) => ({ spelling, desired, other }))))(
    'is not explained by $spelling if it is $other',
    ({ desired, other }) => {
      expect(isSpelling(METADATA, other, desired)).toBe(false);
    },
  );

  it('is not explained by two names that are spelled alike, by case, by a cut or by a flag as text', () => {
    expect(isSpelling(METADATA, { a: 1 }, { a: 1, 'a ': 2 })).toBe(false);
    expect(isSpelling(METADATA, { team: 'data' }, { team: 'Data' })).toBe(false);
    expect(isSpelling(METADATA, { text: 'x'.repeat(40) }, { text: 'x'.repeat(50) })).toBe(false);
    expect(isSpelling(METADATA, { on: 'true' }, { on: true })).toBe(false);
    expect(isSpelling(METADATA, ['object', ['a', '1']], { a: 1 })).toBe(false);
  });
});
