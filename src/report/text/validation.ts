import { InvariantError } from '../../model/errors.ts';
import type { FormOptions, Report, Validation } from '../report.ts';
import { toValidationSize } from '../view/wording.ts';
import { renderDiagnosticsText } from './diagnostics.ts';

/** What a check of manifests found, for a person at a terminal. The only report that this form has. */
export function renderValidationForm(report: Report, options: FormOptions): string {
  if (report.about !== 'validation') throw new InvariantError(`This form shows no ${report.about}`);
  return renderValidationText(report.validation, options);
}

/** The same as a part of the form of every report. */
export function renderValidationText(validation: Validation, options: FormOptions): string {
  const { diagnostics } = validation;
  const found = renderDiagnosticsText(diagnostics, options);
  if (diagnostics.some(({ severity }) => severity === 'error')) return found;
  return `${found}${toValidationSize(validation)}: valid.\n`;
}
