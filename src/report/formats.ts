import { escapeJobCommands } from '../model/job-commands.ts';
import type { Report, ReportRenderer, StacksReportRenderer } from './report.ts';

interface FormatEntry {
  /** The only kind of report that the format can show. Absent if it can show every kind. */
  readonly only?: Report['about'];
  readonly load: () => Promise<ReportRenderer>;
}

/**
 * All report formats. A new format needs its own file, an entry here, in STACKS_REPORT_FORMATS and in FORM_JUDGES of
 * test/report, and a line in docs/reports.md.
 */
const REPORT_FORMATS = {
  text: { load: async () => (await import('./text/report.ts')).renderTextReport },
  json: { load: async () => (await import('./machine/json.ts')).renderJsonReport },
  'json-lines': { load: async () => (await import('./machine/json-lines.ts')).renderJsonLinesReport },
  markdown: { load: async () => (await import('./markdown/report.ts')).renderMarkdownComment },
  html: { load: async () => (await import('./html/report.ts')).renderHtmlReport },
  github: { load: async () => (await import('./machine/github.ts')).renderGithubReport },
  sarif: { load: async () => (await import('./machine/sarif.ts')).renderSarifReport },
  junit: { load: async () => (await import('./machine/junit.ts')).renderJunitReport },
  metrics: { only: 'drift', load: async () => (await import('./machine/metrics.ts')).renderDriftMetrics },
} as const satisfies Readonly<Record<string, FormatEntry>>;

/** The name of a report format, as in `--format` and `--report`. */
export type FormatName = keyof typeof REPORT_FORMATS;

/** The formats that can show a kind of report. Without `about`, the formats that can show every kind. */
export function listFormatNames(about?: Report['about']): readonly FormatName[] {
  const entries: readonly (readonly [string, FormatEntry])[] = Object.entries(REPORT_FORMATS);
  const offered = entries.filter(([, { only }]) => only === undefined || only === about);
  return offered.map(([name]) => name).filter(isFormatName);
}

/** The formats that can show every kind of report. */
export const GENERAL_FORMAT_NAMES: readonly FormatName[] = listFormatNames();

export function isFormatName(text: string): text is FormatName {
  return Object.hasOwn(REPORT_FORMATS, text);
}

export async function loadReportRenderer(name: FormatName): Promise<ReportRenderer> {
  const render = await REPORT_FORMATS[name].load();
  return (report, options) => withoutJobCommands(name, render(report, options));
}

/** Escapes job commands, except in `github`, which consists of them and escapes all other text itself. */
function withoutJobCommands(name: FormatName, text: string): string {
  return name === 'github' ? text : escapeJobCommands(text);
}

const STACKS_REPORT_FORMATS: Readonly<Record<FormatName, () => Promise<StacksReportRenderer>>> = {
  text: async () => (await import('./text/lists.ts')).renderStacksRunText,
  json: async () => (await import('./machine/stacks.ts')).renderStacksReportJson,
  'json-lines': async () => (await import('./machine/stacks.ts')).renderStacksJsonLines,
  markdown: async () => (await import('./markdown/stacks-report.ts')).renderStacksMarkdown,
  html: async () => (await import('./html/stacks-report.ts')).renderStacksHtml,
  github: async () => (await import('./machine/github.ts')).renderStacksGithub,
  sarif: async () => (await import('./machine/sarif.ts')).renderStacksSarif,
  junit: async () => (await import('./machine/junit.ts')).renderStacksJunit,
  metrics: async () => (await import('./machine/metrics.ts')).renderStacksMetrics,
};

/**
 * Loads the renderer of a format for a run over many stacks. The renderer lists the unmanaged resources of an account
 * only once, and equal hidden values have one number.
 */
export async function loadStacksReportRenderer(name: FormatName): Promise<StacksReportRenderer> {
  const [format, { withUnmanagedOncePerAccount: nameAccountsOnce }, { redactStacksRun }] = await Promise.all([
    STACKS_REPORT_FORMATS[name](),
    import('./view/stacks-view.ts'),
    import('./view/redact.ts'),
  ]);
  return (run, options) => withoutJobCommands(name, format(redactStacksRun(nameAccountsOnce(run)), options));
}
