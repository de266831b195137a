import type { Form, Report } from './report.ts';

/** A form of reports, and how to get at it. */
interface FormEntry {
  /** The one result that it is offered for; absent: every result. */
  readonly only?: Report['about'];
  /** Loads it when it is asked for, for every result or only this one: most runs show one result in one form. */
  readonly load: (about?: Report['about']) => Promise<Form>;
}

/** Every form of reports. Adding a form is its file and a line here. */
const FORMS = {
  text: {
    load: async (about) =>
      about === 'validation'
        ? (await import('./text/validation.ts')).renderValidationForm
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
  'account-metrics': {
    only: 'drift',
    load: async () => (await import('./programs/metrics.ts')).renderAccountMetricsForm,
  },
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

/** Whether a text names a form. */
export function isFormName(text: string): text is FormName {
  return Object.hasOwn(FORMS, text);
}

/** The form of that name, for every result, or for one that it will be asked for. */
export async function loadForm(name: FormName, about?: Report['about']): Promise<Form> {
  return FORMS[name].load(about);
}
