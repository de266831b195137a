import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { Place } from '../../src/model/place.ts';
import { renderDiagnosticsText } from './render.ts';
import { PLAIN } from './sample-plans.ts';

const EXCERPTS = new Map<string, string>();

function createPlace(file: string, line: number, source: string, caret: string): Place {
  EXCERPTS.set(`${file}:${line}`, [`${line} | ${source}`, `  | ${caret}`].join('\n'));
  return { file, line, column: caret.indexOf('^') + 1 };
}

const OPTIONS = {
  ...PLAIN,
  excerpts: {
    render: ({ file, line }: Place) => EXCERPTS.get(`${file}:${line}`) ?? '',
    renderCorrected: () => '',
  },
};

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
  await expect(renderDiagnosticsText(DIAGNOSTICS, OPTIONS)).toMatchFileSnapshot('goldens/diagnostics.txt');
});

test('are an empty text if there are none', () => {
  expect(renderDiagnosticsText([], OPTIONS)).toBe('');
});

test('are counted by the severities that occur', () => {
  const last = (diagnostics: readonly Diagnostic[]) => renderDiagnosticsText(diagnostics, OPTIONS).split('\n').at(-2);
  expect(last(DIAGNOSTICS)).toBe('3 errors, 1 warning.');
  expect(last(DIAGNOSTICS.slice(0, 1))).toBe('1 error.');
  expect(last(DIAGNOSTICS.slice(3))).toBe('1 warning.');
});

test('change only colour with colour', () => {
  const colored = renderDiagnosticsText(DIAGNOSTICS, { ...OPTIONS, color: true });
  expect(colored).toContain('\u001b[31merror[bad-field]');
  expect(stripVTControlCharacters(colored)).toBe(renderDiagnosticsText(DIAGNOSTICS, OPTIONS));
});
