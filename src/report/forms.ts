import type { Form, Report, StacksForm } from './report.ts';

/** A form of reports, and how to get at it. */
interface FormEntry {
  /** The one result that it is offered for; absent: every result. */
  readonly only?: Report['about'];
  /** Loads it when it is asked for, for every result or only this one: most runs show one result in one form. */
  readonly load: (about?: Report['about']) => Promise<Form>;
}

/** Every form of reports. Adding one is its file, a line here and in the table of joined forms, a judge in `test/report`, and a line in docs/reports.md. */
const FORMS = {
  text: {
    load: async (about) =>
      about === 'validation'
        ? (await import('./text/diagnostics.ts')).renderValidationForm
        : (await import('./text/form.ts')).renderTextForm,
  },
  json: { load: async () => (await import('./programs/json.ts')).renderJsonForm },
  'json-lines': { load: async () => (await import('./programs/json-lines.ts')).renderJsonLinesForm },
  markdown: { load: async () => (await import('./markdown/form.ts')).renderMarkdownForm },
  html: { load: async () => (await import('./html/form.ts')).renderHtmlForm },
  github: { load: async () => (await import('./programs/github.ts')).renderGithubForm },
  sarif: { load: async () => (await import('./programs/sarif.ts')).renderSarifForm },
  junit: { load: async () => (await import('./programs/junit.ts')).renderJunitForm },
  metrics: { only: 'drift', load: async () => (await import('./programs/metrics.ts')).renderMetricsForm },
} as const satisfies Readonly<Record<string, FormEntry>>;

/** The name of a form of reports, as `--format` and `--report` name it. */
export type FormName = keyof typeof FORMS;

/** The forms that a result has; without one, those that every result has. */
export function listFormNames(about?: Report['about']): readonly FormName[] {
  const entries: readonly (readonly [string, FormEntry])[] = Object.entries(FORMS);
  const offered = entries.filter(([, { only }]) => only === undefined || only === about);
  return offered.map(([name]) => name).filter(isFormName);
}

/** The forms that every result has. */
export const FORM_NAMES: readonly FormName[] = listFormNames();

export function isFormName(text: string): text is FormName {
  return Object.hasOwn(FORMS, text);
}

/** The form of that name, for every result, or for one that it will be asked for. */
export async function loadForm(name: FormName, about?: Report['about']): Promise<Form> {
  return FORMS[name].load(about);
}

/** Every form of reports, for a run over many stacks. */
const STACKS_FORMS: Readonly<Record<FormName, () => Promise<StacksForm>>> = {
  text: async () => (await import('./text/lists.ts')).renderStacksReportText,
  json: async () => (await import('./programs/stacks.ts')).renderStacksReportJson,
  'json-lines': async () => (await import('./programs/stacks.ts')).renderStacksJsonLines,
  markdown: async () => (await import('./markdown/stacks-report.ts')).renderStacksMarkdown,
  html: async () => (await import('./html/stacks-report.ts')).renderStacksHtml,
  github: async () => (await import('./programs/github.ts')).renderStacksGithub,
  sarif: async () => (await import('./programs/sarif.ts')).renderStacksSarif,
  junit: async () => (await import('./programs/junit.ts')).renderStacksJunit,
  metrics: async () => (await import('./programs/metrics.ts')).renderStacksMetrics,
};

/** The form of that name. */
export async function loadStacksForm(name: FormName): Promise<StacksForm> {
  const [form, { tellAccountsOnce }] = await Promise.all([STACKS_FORMS[name](), import('./view/stacks-view.ts')]);
  return (run, options) => form(tellAccountsOnce(run), options);
}
