import type { Form } from './report.ts';

/** Where each form is, loaded when it is asked for: most runs need one. */
const FORMS = {
  text: async (): Promise<Form> => (await import('./text/form.ts')).renderTextForm,
  json: async (): Promise<Form> => (await import('./programs/json-form.ts')).renderJsonForm,
  'json-lines': async (): Promise<Form> => (await import('./programs/json-lines-form.ts')).renderJsonLinesForm,
  markdown: async (): Promise<Form> => (await import('./markdown/form.ts')).renderMarkdownForm,
  html: async (): Promise<Form> => (await import('./html/form.ts')).renderHtmlForm,
  github: async (): Promise<Form> => (await import('./programs/github.ts')).renderGithubForm,
  sarif: async (): Promise<Form> => (await import('./programs/sarif.ts')).renderSarifForm,
  junit: async (): Promise<Form> => (await import('./programs/junit.ts')).renderJunitForm,
  metrics: async (): Promise<Form> => (await import('./programs/metrics.ts')).renderMetricsForm,
};

/** The name of a form of reports. */
export type FormName = keyof typeof FORMS;

/** The forms that every result has, as `--format` and `--report` name them. */
export const FORM_NAMES = [
  'text',
  'json',
  'json-lines',
  'markdown',
  'html',
  'github',
  'sarif',
  'junit',
] as const satisfies readonly FormName[];

/** Whether a text names a form. */
export function isFormName(text: string): text is FormName {
  return Object.hasOwn(FORMS, text);
}

/** The form of that name. */
export async function loadForm(name: FormName): Promise<Form> {
  return FORMS[name]();
}
