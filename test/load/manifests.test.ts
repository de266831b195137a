import { describe, expect, it } from 'vitest';
import { createYamlBudget } from '../../src/manifest/bounded-yaml.ts';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { parseDocuments } from '../../src/manifest/parse.ts';
import { createYamlText } from '../../src/manifest/yaml-text.ts';
import { validate } from '../manifest/explain.ts';

const HEAD = 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: a }\nspec:\n';

/** Lists the messages about a text, without their positions. */
function listMessages(text: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  return validate(text, { env: { variables: env, offered: Object.keys(env) } }).diagnostics.map(
    ({ code, message }) => `${code}: ${message}`,
  );
}

function listFaults(
  text: string,
  limits: { readonly nodes?: number; readonly lexemes?: number; readonly text?: number },
) {
  const allowance = createYamlBudget({ nodes: 1000, lexemes: 10_000, text: 1000, ...limits });
  return [...parseDocuments(createYamlText(text), NO_ENVIRONMENT, allowance)].flatMap(({ findings }) =>
    findings.map(({ message }) => message),
  );
}

describe('input that is larger than any manifest is refused before it is parsed', () => {
  it.each([
    ['brackets', '['.repeat(1_000_000)],
    ['brackets that close', '['.repeat(300_000) + ']'.repeat(300_000)],
    ['braces', '{a: '.repeat(300_000)],
    ['dashes', '- '.repeat(300_000)],
    ['question marks', '? '.repeat(300_000)],
  ])('nesting: %s', (_, text) => {
    expect(listMessages(text)[0]).toBe('yaml-syntax: this is nested too deeply');
  });

  it.each([['aliases', `a: &x 1\nb: [${'*x,'.repeat(200_000)}]`]])('a document: %s', expectTooLarge);

  it.each([
    ['keys', Array.from({ length: 1_000_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['empty lists', `[${'[],'.repeat(200_000)}]`],
    ['tags', `[${'!x 1,'.repeat(200_000)}]`],
    ['lines', `${'\n'.repeat(1_100_000)}a: 1`],
    ['comments', `${'# x\n'.repeat(400_000)}a: 1`],
  ])('a document: %s', expectTooLarge);

  function expectTooLarge(_: string, text: string): void {
    expect(listMessages(text)[0]).toBe('yaml-syntax: this document has more than 300,000 keys and values');
  }

  it('a text', () => {
    expect(listMessages(`a: "${'x'.repeat(1_100_000)}"`)[0]).toBe(
      'yaml-syntax: this text is longer than 1,048,576 characters',
    );
    expect(listMessages(`a: |\n  ${'x'.repeat(1_100_000)}\n`)[0]).toContain('this text is longer than');
  });

  it('a text with its variables filled in', () => {
    const text = `${HEAD}  description: "${`\${env:X}`.repeat(20)}"\n`;
    expect(listMessages(text, { X: 'x'.repeat(100_000) })[0]).toBe(
      'bad-value: TCPEdge/a: this text is too long with its variables filled in',
    );
  });

  it('documents', () => {
    expect(listMessages('---\na: 1\n'.repeat(200_000)).join()).toContain(
      'the manifests are too long: up to here they have more than 2,000,000 YAML tokens',
    );
  });

  it('all files together, each of which is small', () => {
    const allowance = createYamlBudget({ nodes: 1000, lexemes: 50, text: 1000 });
    const read = () =>
      [...parseDocuments(createYamlText('a: [1, 2, 3]\n'), NO_ENVIRONMENT, allowance)].flatMap(
        ({ findings }) => findings,
      );
    expect([read(), read()]).toEqual([[], []]);
    expect([...read(), ...read()][0]?.message).toContain('the manifests are too long');
  });
});

/** If the work grew with the square of these numbers, the tests would time out. */
describe('input that is large and allowed, or nearly', () => {
  it('reports a hundred thousand hostports of an edge as one mistake', () => {
    const hostports = Array.from({ length: 100_000 }, (_, index) => `    - h${index}.example.net:5432\n`);
    const told = listMessages(`${HEAD}  hostports:\n${hostports.join('')}`);
    expect(told).toEqual(['yaml-syntax: TCPEdge/a: this has 100,000 members; the limit is 20,000']);
  });

  it('accepts twenty thousand resources that refer to one', () => {
    const header = (kind: string, name: string) =>
      `---\napiVersion: edgewise/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
    const pool = `${header('WeightedBackend', 'pool')}spec: { backends: { bkdtg_a: 1 } }\n`;
    const edges = Array.from(
      { length: 20_000 },
      (_, index) =>
        `${header('TCPEdge', `e${index}`)}spec: { hostports: ["h${index}.example.net:1"], backend: { backend_id: WeightedBackend/pool } }\n`,
    );
    const { state, diagnostics } = validate(`${pool}${edges.join('')}`);
    expect(diagnostics).toEqual([]);
    expect(state?.resources.size).toBe(20_001);
  });
});

describe('limits', () => {
  it('are for each document, and for each text', () => {
    const document = `a: [${'1, '.repeat(40)}]\n`;
    expect(listFaults(`${document}---\n${document}---\n${document}`, { nodes: 60 })).toEqual([]);
    expect(listFaults(`a: [${'1, '.repeat(80)}]\n`, { nodes: 60 })).toEqual([
      'this document has more than 60 keys and values',
    ]);
    expect(listFaults('a: aaaa\nb: bbbb\n', { text: 4 })).toEqual([]);
    expect(listFaults('a: aaaaa\n', { text: 4 })).toEqual(['this text is longer than 4 characters']);
  });

  it('accept a text that looks like a separator', () => {
    const texts = Array.from({ length: 30 }, () => '- "---"\n').join('');
    expect(listFaults(texts, { nodes: 50 })).toEqual(['this document has more than 50 keys and values']);
  });
});

describe('many mistakes in one document', () => {
  it('are reported up to twenty of a kind, with the number of the rest', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `  unknown_${index}: 1\n`).join('');
    const told = listMessages(HEAD + keys);
    expect(told).toHaveLength(21);
    expect(told[19]).toContain('unknown_19');
    expect(told[20]).toBe('bad-field: TCPEdge/a: and 19,980 more bad-field after this line');
  });

  it.each([
    [
      'keys that stand twice',
      `${HEAD}${'  description: x\n'.repeat(60)}`,
      'yaml-syntax: TCPEdge/a: and 39 more yaml-syntax after this line',
    ],
    [
      'values of the wrong type',
      `${HEAD}  hostports: [${'1,'.repeat(50)}]\n`,
      'bad-value: TCPEdge/a: and 30 more bad-value after this line',
    ],
    [
      'variables',
      `${HEAD}  hostports: [${`"\${env:X}",`.repeat(50)}]\n`,
      'env-reference: TCPEdge/a: and 30 more env-reference after this line',
    ],
    [
      'references',
      `${HEAD.replace('TCPEdge', 'WeightedBackend')}  backends: {${Array.from({ length: 50 }, (_, index) => `External/x${index}: 1`).join(', ')}}\n`,
      'more',
    ],
  ])('are limited for any kind: %s', (_, text, last) => {
    const told = listMessages(text);
    expect(told.some((line) => line.includes(last))).toBe(true);
    expect(told.length).toBeLessThan(30);
  });
});

it('reports a thousand of many documents with mistakes, and the number of the rest', () => {
  const told = listMessages('---\nkind: Nobody\n'.repeat(3000));
  expect(told).toHaveLength(1001);
  expect(told.filter((line) => line.includes('and 2,000 more errors'))).toHaveLength(1);
});
