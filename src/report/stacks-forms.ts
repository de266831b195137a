import type { FormName } from './forms.ts';
import type { StacksForm } from './stacks-report.ts';

/** Every form of reports, for a run over many stacks. */
const FORMS: Readonly<Record<FormName, () => Promise<StacksForm>>> = {
  text: async () => (await import('./text/stacks-report.ts')).renderStacksReportText,
  json: async () => (await import('./programs/stacks-report.ts')).renderStacksReportJson,
  'json-lines': async () => (await import('./programs/stacks-report.ts')).renderStacksJsonLines,
  markdown: async () => (await import('./markdown/stacks-report.ts')).renderStacksMarkdown,
  html: async () => (await import('./html/stacks-report.ts')).renderStacksHtml,
  github: async () => (await import('./programs/github.ts')).renderStacksGithub,
  sarif: async () => (await import('./programs/sarif.ts')).renderStacksSarif,
  junit: async () => (await import('./programs/junit.ts')).renderStacksJunit,
  metrics: async () => (await import('./programs/metrics.ts')).renderStacksMetrics,
  'account-metrics': async () => (await import('./programs/metrics.ts')).renderStacksAccountMetrics,
};

/** The form of that name. */
export async function loadStacksForm(name: FormName): Promise<StacksForm> {
  return FORMS[name]();
}
