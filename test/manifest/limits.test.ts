import { describe, expect, it } from 'vitest';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { hasErrors } from '../../src/model/diagnostic.ts';
import { renderMetadata } from '../../src/model/mark.ts';
import { explain, validate } from './explain.ts';

const toEdgeText = (lines: string) => `apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: a }\n${lines}`;

describe('a text', () => {
  it('is counted in bytes, not in characters', () => {
    expect(explain(toEdgeText(`spec: { description: ${'ä'.repeat(127)} }\n`))).toEqual([]);
    const [line] = explain(toEdgeText(`spec: { description: ${'ä'.repeat(128)} }\n`));
    expect(line).toMatch(/bad-value: TCPEdge\/a: spec.description is 256 bytes long; the limit is 255 bytes of UTF-8$/);
  });
});

/** What a rename, a move and an adoption add to a mark. */
const LATER = { former: { name: 'x'.repeat(63), stack: 'x'.repeat(63) }, adopted: true } as const;

describe('metadata', () => {
  const stack = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: production }\n---\n';
  const fields = { hostports: 'xxxxxx', metadata: 'xxxxxx', policy: '' };
  const id = `edgtcp_${'x'.repeat(27)}`;
  const mark = { stack: 'production', name: 'a', protect: true, delivered: false, id, fields, ...LATER };
  const free = 4096 - renderMetadata({ t: '' }, mark).length;
  const withText = (length: number) =>
    `${stack}${toEdgeText(`spec: { hostports: ["a:1"], policy: { enabled: true }, metadata: { t: ${'x'.repeat(length)} } }\nlifecycle: { protect: true, ignore: [policy] }\n`)}`;

  it('is as long as leaves room for the mark', () => {
    expect(explain(withText(free))).toEqual([]);
  });

  it('is too long by the size of the mark, and the error says so', () => {
    expect(explain(withText(free + 1))).toEqual([
      expect.stringMatching(
        /bad-value: TCPEdge\/a: spec.metadata is 4097 bytes long, including the mark; the limit is 4096/,
      ),
      '  Shorten it by 1 byte.',
    ]);
  });

  it('of a credential leaves room for its delivery, the old one that retires, and a former name', () => {
    const name = { stack: '', name: 'a', protect: false, fields: { metadata: 'xxxxxx' } };
    const id = `cr_${'x'.repeat(27)}`;
    const retires = { id, at: '2026-01-01T00:00:00Z' };
    const room = 4096 - renderMetadata({ t: '' }, { ...name, delivered: true, id, retires, ...LATER }).length;
    const withLength = (length: number) =>
      `apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: a }\nspec: { metadata: { t: ${'x'.repeat(length)} } }\n`;
    expect(explain(withLength(room))).toEqual([]);
    expect(explain(withLength(room + 1))).toHaveLength(2);
  });

  it('is reported once if it is too long by itself', () => {
    const [line, ...more] = explain(toEdgeText(`spec: { metadata: ${'x'.repeat(4097)} }\n`));
    expect(line).toMatch(/spec.metadata is 4097 bytes long; the limit is 4096 bytes of UTF-8$/);
    expect(more).toEqual(['  Shorten it to 4096 bytes.']);
  });
});

describe('aliases', () => {
  const bomb = `spec:\n  a: &a [1,1,1,1,1,1,1,1,1]\n${[...'bcdefgh']
    .map((name, index) => `  ${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(',')}]\n`)
    .join('')}`;

  it('are found as a bomb without expanding it', () => {
    expect(explain(toEdgeText(bomb))[0]).toBe(
      '12:10 [*g] yaml-syntax: TCPEdge/a: the aliases of this document expand to too many values',
    );
  });

  it('leave their document its address in a bomb, and the others their diagnostics', () => {
    const reference = toEdgeText('spec: { backend: { backend_id: TCPEdge/b }, x: 1 }\n');
    expect(explain(`${toEdgeText(bomb).replace('name: a', 'name: b')}---\n${reference}`)).toHaveLength(6);
  });

  it('are no bomb if they repeat a rule many times', () => {
    const aliases = Array.from({ length: 300 }, () => '*r').join(', ');
    const rule = '{ expressions: ["true"], actions: { type: deny } }';
    expect(explain(toEdgeText(`spec: { policy: { inbound: [&r ${rule}, ${aliases}] } }\n`))).toEqual([]);
  });
});

describe('nesting', () => {
  it('is read to any reasonable depth', () => {
    const nested = (depth: number) =>
      toEdgeText(`spec: { metadata: ${'{ a: '.repeat(depth)}1${' }'.repeat(depth)} }\n`);
    expect(explain(nested(98))).toEqual([]);
    expect(explain(nested(99))).toEqual([
      expect.stringMatching(/^4:509 .* yaml-syntax: TCPEdge\/a: this is nested more than 100 levels deep$/),
      '  No field of a manifest is nested as deeply.',
    ]);
  });

  it.each([
    ['brackets', '['],
    ['braces', '{a: '],
    ['dashes', '- '],
    ['indented keys', ''],
  ])('of %s that would exhaust the stack is reported', (_, opening) => {
    const steps = Array.from({ length: 4000 }, (__, depth) => `${' '.repeat(depth)}a:\n`).join('');
    const [line, ...more] = explain(opening === '' ? `${steps}b` : opening.repeat(50_000));
    expect(line).toMatch(/yaml-syntax: (this is nested too deeply|not valid YAML: .*)$/);
    expect(more).toHaveLength(1);
  });
});

describe('a list or a mapping', () => {
  it.each([
    ['members', (count: number) => `spec: { policy: { inbound: [{ expressions: [${'"true",'.repeat(count)}] }] } }\n`],
    ['keys', (count: number) => `spec: { metadata: { ${Array.from({ length: count }, (_, at) => `k${at}: 1`)} } }\n`],
  ])('has at most 20,000 %s, and more are one mistake', (what, toSpec) => {
    const limit = `the limit is 20,000`;
    expect(explain(toEdgeText(toSpec(20_000))).join()).not.toContain(limit);
    const [line, ...more] = explain(toEdgeText(toSpec(20_001)));
    expect(line).toMatch(new RegExp(`yaml-syntax: TCPEdge/a: this has 20,001 ${what}; ${limit}$`));
    expect(more).toEqual([`  Split it: no field of a manifest needs that many ${what}.`]);
  });
});

describe('bytes that are not UTF-8', () => {
  const diagnose = (...parts: readonly (string | readonly number[])[]) => {
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
    return validateManifests([{ file: 'm.yaml', bytes }], { env: NO_ENVIRONMENT });
  };
  const summarize = ({ diagnostics }: ReturnType<typeof diagnose>) =>
    diagnostics.map(({ code, message, place }) => `${place?.line}:${place?.column} ${code}: ${message}`);

  it('are reported at the first of them, and the file is not read further', () => {
    expect(summarize(diagnose('a: ü\nb: ', [0xff], ': : :'))).toEqual([
      '2:4 yaml-syntax: m.yaml is not UTF-8 text: byte 9 is 0xff',
    ]);
  });

  it('are found behind real replacement characters', () => {
    expect(summarize(diagnose('\uFFFD\uFFFD\n\uFFFDx', [0xc3], 'y'))).toEqual([
      '2:3 yaml-syntax: m.yaml is not UTF-8 text: byte 11 is 0xc3',
    ]);
  });

  it('are found behind a byte order mark, and at the end of the file', () => {
    expect(summarize(diagnose([0xef, 0xbb, 0xbf], 'ab', [0xe2, 0x82]))).toEqual([
      '1:3 yaml-syntax: m.yaml is not UTF-8 text: byte 5 is 0xe2',
    ]);
  });

  it('are found in a file of UTF-16', () => {
    const { diagnostics } = diagnose([...Buffer.from('\uFEFFkind: a', 'utf16le')]);
    expect(diagnostics[0]).toMatchObject({ code: 'yaml-syntax', remedy: 'Save the file as UTF-8.' });
  });
});

describe('ten thousand documents', () => {
  it('are all read, with the position of each field', () => {
    const documents = Array.from({ length: 10_000 }, (_, index) =>
      toEdgeText('').replace('name: a', `name: e${index}`),
    );
    const { state, diagnostics } = validate(documents.join('---\n'));
    expect(hasErrors(diagnostics)).toBe(false);
    expect(state?.resources.size).toBe(10_000);
    expect(state?.resources.get('TCPEdge/e9999')?.locate(['metadata', 'name'])).toMatchObject({
      line: 39_999,
      column: 19,
    });
  });
});

const HEADER = 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: a }\n';

/** `test/hostile/slow-texts.test.ts` has far more of them. */
describe('tags', () => {
  it.each([
    ['in brackets that are never closed', `${HEADER}x: [${'!((((, '.repeat(1000)}]\n`, 21],
    ['before lists', `${HEADER}x: [${'! [], '.repeat(600)}]\n`, 21],
    ['of many documents', `${HEADER}x: ! y\n---\n`.repeat(500), 500],
  ])('are found: %s', (_, text, least) => {
    expect(explain(text).filter((line) => line.includes(' yaml-syntax: ')).length).toBeGreaterThanOrEqual(least);
  });
});
