import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Diagnostic, SourcePlace } from '../../src/model/diagnostic.ts';
import { renderDiagnosticsText } from './render.ts';
import { PLAIN } from './sample-plans.ts';

function createPlace(file: string, line: number, source: string, caret: string): SourcePlace {
  return { file, line, column: caret.indexOf('^') + 1, excerpt: [`${line} | ${source}`, `  | ${caret}`].join('\n') };
}

const DIAGNOSTICS: readonly Diagnostic[] = [
  {
    code: 'bad-field',
    severity: 'error',
    message: '`hostport` is not a field of TCPEdge',
    remedy: 'Did you mean `hostports`?',
    address: 'TCPEdge/postgres',
    place: createPlace('edges/postgres.yaml', 8, '  hostport: 1.tcp.example.net:20001', '  ^^^^^^^^'),
  },
  {
    code: 'duplicate-claim',
    severity: 'error',
    message: 'TCPEdge/postgres is described twice',
    address: 'TCPEdge/postgres',
    place: createPlace('edges/more.yaml', 3, '  name: postgres', '        ^^^^^^^^'),
    related: [
      {
        message: 'first described here',
        place: createPlace('edges/postgres.yaml', 4, '  name: postgres', '        ^^^^^^^^'),
      },
    ],
  },
  {
    code: 'no-stack',
    severity: 'error',
    message: 'No Stack document says what these manifests are called together',
    remedy:
      'Add a document of kind Stack, for example in edgewise.yaml. There is no default name, because two repositories that share one would prune each other.',
  },
  {
    code: 'mark-invalid',
    severity: 'warning',
    message: 'The mark of edgtcp_2abc cannot be read: its stack is not a valid name',
    address: 'TCPEdge/old',
  },
];

test('look like those of a good compiler', async () => {
  await expect(renderDiagnosticsText(DIAGNOSTICS, PLAIN)).toMatchFileSnapshot('goldens/diagnostics.txt');
});

test('are an empty text if there are none', () => {
  expect(renderDiagnosticsText([], PLAIN)).toBe('');
});

test('are counted by the severities that occur', () => {
  const last = (diagnostics: readonly Diagnostic[]) => renderDiagnosticsText(diagnostics, PLAIN).split('\n').at(-2);
  expect(last(DIAGNOSTICS)).toBe('3 errors, 1 warning.');
  expect(last(DIAGNOSTICS.slice(0, 1))).toBe('1 error.');
  expect(last(DIAGNOSTICS.slice(3))).toBe('1 warning.');
});

test('change only colour with colour', () => {
  const colored = renderDiagnosticsText(DIAGNOSTICS, { ...PLAIN, color: true });
  expect(colored).toContain('\u001b[31merror[bad-field]');
  expect(stripVTControlCharacters(colored)).toBe(renderDiagnosticsText(DIAGNOSTICS, PLAIN));
});

test('keep the caret in place behind a tab', () => {
  const place = { file: 'a.yaml', line: 1, column: 2, excerpt: '1 | \tx: 1\n  | \t^' };
  const text = renderDiagnosticsText([{ code: 'yaml-syntax', severity: 'error', message: 'x', place }], PLAIN);
  expect(text).toContain('  1 |  x: 1\n    |  ^\n');
});
