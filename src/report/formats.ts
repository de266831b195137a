import type { Report, ReportFormat, StacksReportFormat } from './report.ts';

/** A format of reports, and how to get at it. */
interface FormatEntry {
  /** The one result that it is offered for; absent: every result. */
  readonly only?: Report['about'];
  /** Loads it when it is asked for, for every result or only this one: most runs show one result in one format. */
  readonly load: (about?: Report['about']) => Promise<ReportFormat>;
}

/** Every format of reports. Adding one is its file, a line here and in the table of joined formats, a judge in `test/report`, and a line in docs/reports.md. */
const REPORT_FORMATS = {
  text: {
    load: async (about) =>
      about === 'validation'
        ? (await import('./text/diagnostics.ts')).renderValidationReport
        : (await import('./text/report.ts')).renderTextReport,
  },
  json: { load: async () => (await import('./machine/json.ts')).renderJsonReport },
  'json-lines': { load: async () => (await import('./machine/json-lines.ts')).renderJsonLinesReport },
  markdown: { load: async () => (await import('./markdown/report.ts')).renderMarkdownReport },
  html: { load: async () => (await import('./html/report.ts')).renderHtmlReport },
  github: { load: async () => (await import('./machine/github.ts')).renderGithubReport },
  sarif: { load: async () => (await import('./machine/sarif.ts')).renderSarifReport },
  junit: { load: async () => (await import('./machine/junit.ts')).renderJunitReport },
  metrics: { only: 'drift', load: async () => (await import('./machine/metrics.ts')).renderMetricsReport },
} as const satisfies Readonly<Record<string, FormatEntry>>;

/** The name of a format of reports, as `--format` and `--report` name it. */
export type FormatName = keyof typeof REPORT_FORMATS;

/** The formats that a result has; without one, those that every result has. */
export function listFormatNames(about?: Report['about']): readonly FormatName[] {
  const entries: readonly (readonly [string, FormatEntry])[] = Object.entries(REPORT_FORMATS);
  const offered = entries.filter(([, { only }]) => only === undefined || only === about);
  return offered.map(([name]) => name).filter(isFormatName);
}

/** The formats that every result has. */
export const FORMAT_NAMES: readonly FormatName[] = listFormatNames();

export function isFormatName(text: string): text is FormatName {
  return Object.hasOwn(REPORT_FORMATS, text);
}

/** The format of that name, for every result, or for one that it will be asked for. */
export async function loadReportFormat(name: FormatName, about?: Report['about']): Promise<ReportFormat> {
  return REPORT_FORMATS[name].load(about);
}

/** Every format of reports, for a run over many stacks. */
const STACKS_REPORT_FORMATS: Readonly<Record<FormatName, () => Promise<StacksReportFormat>>> = {
  text: async () => (await import('./text/lists.ts')).renderStacksReportText,
  json: async () => (await import('./machine/stacks.ts')).renderStacksReportJson,
  'json-lines': async () => (await import('./machine/stacks.ts')).renderStacksJsonLines,
  markdown: async () => (await import('./markdown/stacks-report.ts')).renderStacksMarkdown,
  html: async () => (await import('./html/stacks-report.ts')).renderStacksHtml,
  github: async () => (await import('./machine/github.ts')).renderStacksGithub,
  sarif: async () => (await import('./machine/sarif.ts')).renderStacksSarif,
  junit: async () => (await import('./machine/junit.ts')).renderStacksJunit,
  metrics: async () => (await import('./machine/metrics.ts')).renderStacksMetrics,
};

/** The format of that name. */
export async function loadStacksReportFormat(name: FormatName): Promise<StacksReportFormat> {
  const [format, { tellAccountsOnce }] = await Promise.all([
    STACKS_REPORT_FORMATS[name](),
    import('./view/stacks-view.ts'),
  ]);
  return (run, options) => format(tellAccountsOnce(run), options);
}
