import { type CodePage, type ShownExample, type ShownFile, toCodePage } from '../src/explain/code-page.ts';
import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../src/model/diagnostic-codes.ts';

/** The part of docs/diagnostics.md that explains every code, with what its example prints. */
export function renderDiagnosticsReference(): string {
  const codes = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[]; // the keys of a constant table
  const list = codes.map((code) => `| [\`${code}\`](#${code}) | ${DIAGNOSTIC_CODES[code]} |`);
  return [
    ['| Code | What it says |', '| --- | --- |', ...list].join('\n'),
    ...codes.map((code) => renderCode(toCodePage(code))),
  ].join('\n\n');
}

function renderCode({ code, sentence, meaning, remedy, example, mended }: CodePage): string {
  return [
    `## ${code}`,
    sentence,
    meaning,
    ...renderFiles(example),
    toFence('text', `$ edgewise ${example.command}\n${example.output}`),
    `**What to do.** ${remedy}`,
    ...renderFiles(mended),
    ...mended.removed.map((name) => `\`${name}\` is gone.`),
    ...(mended.command === example.command ? [] : [toFence('sh', `edgewise ${mended.command}`)]),
  ].join('\n\n');
}

function renderFiles({ files, seed, meanwhile }: ShownExample): readonly string[] {
  return [
    ...files.map(renderFile),
    ...(seed === undefined
      ? []
      : ['The service holds (`edgewise serve --seed live.json`):', toFence('json live.json', seed)]),
    ...(meanwhile === undefined
      ? []
      : [
          `While it runs, right before its \`${meanwhile.before}\`, somebody else sends:`,
          toFence('http', `${meanwhile.request}\n\n${meanwhile.body}`),
        ]),
  ];
}

/** The name of the file stands behind the language, where only readers of the source see it, and so above the text too. */
function renderFile({ name, text, encoding }: ShownFile): string {
  const label = encoding === undefined ? `\`${name}\`` : `\`${name}\`, in ${encoding}`;
  return `${label}:\n\n${toFence(`${name.endsWith('.yaml') ? 'yaml' : 'text'} ${name}`, text)}`;
}

function toFence(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}
