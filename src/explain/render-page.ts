import { renderPrintableJson } from '../report/machine/json.ts';
import type { TextStyleOptions } from '../report/report.ts';
import { createPainter, wrapProse, wrapWithPrefix } from '../report/text/layout.ts';
import { parseExample } from './code-section.ts';
import type { ExplanationPage, TopicSummary } from './explain.ts';
import type { CodePage, FieldRow, KindOrFieldPage } from './pages.ts';

export function renderPageText(page: ExplanationPage, options: TextStyleOptions): string {
  return `${renderPage(page, options).join('\n').trimEnd()}\n`;
}

function renderPage(page: ExplanationPage, options: TextStyleOptions): readonly string[] {
  switch (page.about) {
    case 'code':
      return renderCode(page, options);
    case 'fields':
      return [
        ...renderPageHeading(`${page.name}, in several places`, options),
        ...renderTopicsPage(page.fields, options),
      ];
    case 'topics':
      return [
        ...renderPageHeading('Kinds', options),
        ...renderTopicsPage(page.kinds, options),
        '',
        ...renderPageHeading('Diagnostic codes', options),
        ...renderTopicsPage(page.codes, options),
      ];
    default:
      return renderFieldPage(page, options);
  }
}

function renderPageHeading(text: string, { color }: TextStyleOptions): readonly string[] {
  return [createPainter(color)('strong', text)];
}

function renderTopicsPage(topics: readonly TopicSummary[], { width }: TextStyleOptions): readonly string[] {
  const names = Math.max(...topics.map(({ name }) => name.length));
  return topics.flatMap(({ name, sentence }) => {
    const label = `  ${name.padEnd(names)}  `;
    return wrapWithPrefix(label, sentence, { width, rest: label.length });
  });
}

function renderCode(page: CodePage, options: TextStyleOptions): readonly string[] {
  const { code, sentence, meaning, example, remedy } = page;
  return [
    ...renderPageHeading(code, options),
    ...renderPageProse(`${sentence} ${meaning}`, options),
    '',
    ...renderPageHeading('Example', options),
    ...parseExample(example).flatMap(({ text, language }) =>
      language === undefined
        ? renderPageProse(text, options)
        : [...indentText(text, language === 'console' ? 2 : 4), ''],
    ),
    ...renderPageHeading('What to do', options),
    ...renderPageProse(remedy, options),
  ];
}

function renderPageProse(text: string, { width }: TextStyleOptions): readonly string[] {
  return wrapProse(text, width, { first: 2, rest: 2 }).map((line) => `  ${line}`);
}

function indentText(text: string, columns: number): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `${' '.repeat(columns)}${line}`));
}

function renderFieldPage(
  { path, description, facts, fields }: KindOrFieldPage,
  options: TextStyleOptions,
): readonly string[] {
  const names = Math.max(0, ...facts.map(([name]) => name.length));
  return [
    ...renderPageHeading(path, options),
    ...renderPageProse(description, options),
    ...(facts.length === 0 ? [] : ['']),
    ...facts.flatMap(([name, text]) => {
      const label = `  ${name.padEnd(names)}  `;
      return wrapWithPrefix(label, text, { width: options.width, rest: label.length });
    }),
    ...(fields.length === 0
      ? []
      : ['', ...renderPageHeading('Fields', options), ...fields.flatMap((row) => renderRow(row, options))]),
  ];
}

/** Renders a field, and the fields inside of it below, indented. */
function renderRow(
  { name, type, description, fields }: FieldRow,
  options: TextStyleOptions,
  indent = 2,
): readonly string[] {
  const { width, color } = options;
  const [lead, rest] = [' '.repeat(indent), indent + 4];
  const [first = '', ...more] = wrapWithPrefix(`${lead}${name}: `, type, { width, rest });
  return [
    `${lead}${createPainter(color)('strong', name)}${first.slice(indent + name.length)}`,
    ...more,
    ...(description === '' ? [] : wrapProse(description, width, { first: rest, rest })).map(
      (line) => `${' '.repeat(rest)}${line}`,
    ),
    ...fields.flatMap((inner) => renderRow(inner, options, rest)),
  ];
}

export function renderPageJson(page: ExplanationPage): string {
  const { about, ...rest } = 'facts' in page ? { ...page, facts: Object.fromEntries(page.facts) } : page;
  return renderPrintableJson({ format: 1, command: 'explain', ok: true, about, ...rest });
}
