import { escapeJobCommands } from '../model/job-commands.ts';
import { type Document, formatSummary } from './document.ts';
import type { FormatOptions, Report, ReportRenderer, StacksReportRenderer, StacksRunReport } from './report.ts';
import { numberReport } from './view/redact.ts';

/** Writes a report in chunks of whole lines, so that a long report never exists as one text. */
export type ReportWriter<R extends Report | StacksRunReport = Report> = (
  report: R,
  options: FormatOptions,
) => Iterable<string>;

interface FormatEntry {
  /** The only kind of report that the format can show. Absent if it can show every kind. */
  readonly only?: Report['about'] | undefined;
  readonly load: () => Promise<ReportWriter>;
  readonly loadForStacks: () => Promise<ReportWriter<StacksRunReport>>;
}

/**
 * All report formats. A new format needs its own file, an entry here, in FORMAT_CHECKS of test/report, and a line in
 * docs/reference/reports.md.
 */
const REPORT_FORMATS = {
  text: ofDocument(async () => (await import('./text/write-text.ts')).writeText),
  json: ofReport(
    async () => (await import('./machine/json.ts')).renderJsonReport,
    async () => (await import('./machine/stacks.ts')).renderStacksReportJson,
  ),
  markdown: ofDocument(async () => (await import('./markdown/write-markdown.ts')).writeMarkdown),
  html: ofDocument(async () => (await import('./html/write-html.ts')).writeHtml),
  github: ofFindings(async () => (await import('./findings/write-github.ts')).writeGithub, { isOnce: true }),
  sarif: ofFindings(async () => (await import('./findings/write-sarif.ts')).writeSarif, { isOnce: false }),
  junit: ofFindings(async () => (await import('./findings/write-junit.ts')).writeJunit, { isOnce: false }),
  metrics: {
    only: 'drift',
    ...ofReport(
      async () => (await import('./machine/metrics.ts')).renderDriftMetrics,
      async () => (await import('./machine/metrics.ts')).renderStacksMetrics,
    ),
  },
} as const satisfies Readonly<Record<string, FormatEntry>>;

type LoadDocumentWriter = () => Promise<(document: Document, options: FormatOptions) => Iterable<string>>;

/** The format has a writer of documents, which knows no report. */
function ofDocument(load: LoadDocumentWriter): FormatEntry {
  const loadAll = () => Promise.all([load(), import('./documents/create-document.ts')] as const);
  return {
    load: async () => {
      const [write, { createDocument }] = await loadAll();
      return (report, options) => write(createDocument(numberReport(report), options), options);
    },
    loadForStacks: async () => {
      const [write, { createStacksDocument }] = await loadAll();
      return (run, options) => write(createStacksDocument(run, options), options);
    },
  };
}

/** The same, for a writer of findings only. `isOnce`: it shows errors that several stacks have with the first one. */
function ofFindings(load: LoadDocumentWriter, { isOnce }: { readonly isOnce: boolean }): FormatEntry {
  return {
    ...ofDocument(load),
    loadForStacks: async () => {
      const [write, { createStacksFindingsDocument }] = await Promise.all([
        load(),
        import('./documents/create-document.ts'),
      ]);
      return (run, options) => write(createStacksFindingsDocument(run, options, { isOnce }), options);
    },
  };
}

/**
 * The format has values that no document has: it has its own renderer of reports, and of runs over many stacks. Of the
 * document, these get the summary.
 */
function ofReport(
  load: () => Promise<ReportRenderer>,
  loadForStacks: () => Promise<StacksReportRenderer>,
): FormatEntry {
  const loadDocuments = () => import('./documents/create-document.ts');
  return {
    load: async () => {
      const [render, { createDocument }] = await Promise.all([load(), loadDocuments()]);
      return (report, options) => {
        const numbered = numberReport(report);
        return [render(numbered, { ...options, summary: formatSummary(createDocument(numbered, options)) })];
      };
    },
    loadForStacks: async () => {
      const [render, { createStacksDocument }, { prepareStacksRun }] = await Promise.all([
        loadForStacks(),
        loadDocuments(),
        import('./view/run-wording.ts'),
      ]);
      return (run, options) => [
        render(prepareStacksRun(run), { ...options, summary: formatSummary(createStacksDocument(run, options)) }),
      ];
    },
  };
}

/** The name of a report format, as in `--format` and `--report`. */
export type FormatName = keyof typeof REPORT_FORMATS;

/** The formats that can show a kind of report. Without `about`, the formats that can show every kind. */
export function listFormatNames(about?: Report['about']): readonly FormatName[] {
  const entries: readonly (readonly [string, FormatEntry])[] = Object.entries(REPORT_FORMATS);
  const offered = entries.filter(([, { only }]) => only === undefined || only === about);
  return offered.map(([name]) => name).filter(isFormatName);
}

/**
 * The formats that can show every kind of report.
 *
 * @example
 * const isFormat = GENERAL_FORMAT_NAMES.some((name) => name === text);
 */
export const GENERAL_FORMAT_NAMES: readonly FormatName[] = listFormatNames();

export function isFormatName(text: string): text is FormatName {
  return Object.hasOwn(REPORT_FORMATS, text);
}

function getFormat(name: FormatName): FormatEntry {
  if (isFormatName(name)) return REPORT_FORMATS[name];
  throw new RangeError(`There is no report format ${String(name)}.`);
}

export async function loadReportWriter(name: FormatName): Promise<ReportWriter> {
  return withoutJobCommands(name, await getFormat(name).load());
}

/**
 * Loads the writer of a format for a run over many stacks. It lists the unmanaged resources of an account only once, and
 * equal hidden values have one number.
 */
export async function loadStacksReportWriter(name: FormatName): Promise<ReportWriter<StacksRunReport>> {
  return withoutJobCommands(name, await getFormat(name).loadForStacks());
}

/**
 * Like `loadReportWriter`, for a report as one text. Rejects with `RangeError` if there is no such format.
 * @example
 * const render = await loadReportRenderer('markdown');
 * const text = render({ about: 'drift', drift }, { color: false, width: 0, verbose: false });
 */
export async function loadReportRenderer(name: FormatName): Promise<ReportRenderer> {
  const write = await loadReportWriter(name);
  return (report, options) => [...write(report, options)].join('');
}

/** Like `loadStacksReportWriter`, for a report as one text. */
export async function loadStacksReportRenderer(name: FormatName): Promise<StacksReportRenderer> {
  const write = await loadStacksReportWriter(name);
  return (run, options) => [...write(run, options)].join('');
}

/** Escapes job commands, except in `github`, which consists of them and escapes all other text itself. */
function withoutJobCommands<R extends Report | StacksRunReport>(
  name: FormatName,
  write: ReportWriter<R>,
): ReportWriter<R> {
  if (name === 'github') return write;
  return function* (report, options) {
    for (const chunk of write(report, options)) yield escapeJobCommands(chunk);
  };
}
