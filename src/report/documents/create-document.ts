import { assertNever } from '../../model/errors.ts';
import type { Document } from '../document.ts';
import type { FormatOptions, Report, StacksRunReport } from '../report.ts';
import { prepareStacksRun } from '../view/run-wording.ts';
import { createApplyDocument } from './apply.ts';
import { createComparisonDocument } from './comparison.ts';
import { createDriftDocument } from './drift.ts';
import { createFailureDocument, createValidationDocument } from './findings.ts';
import { createPlanDocument } from './plan.ts';
import { createRunDocument, listWholeParts } from './run.ts';

/** Creates the document of a report. Has no side effects. */
export function createDocument(report: Report, options: FormatOptions): Document {
  switch (report.about) {
    case 'plan':
      return createPlanDocument(report, options);
    case 'apply':
      return createApplyDocument(report, options);
    case 'comparison':
      return createComparisonDocument(report, options);
    case 'drift':
      return createDriftDocument(report, options);
    case 'validation':
      return createValidationDocument(report, options);
    case 'failure':
      return createFailureDocument(report, options);
    default:
      return assertNever(report);
  }
}

/** Creates the document of a run over many stacks, for every format for people. */
export function createStacksDocument(run: StacksRunReport, options: FormatOptions): Document {
  return createRunDocument(prepareStacksRun(run), options, createDocument);
}

/** Creates the document of a run for a format that has findings only, from whole documents of all stacks. */
export function createStacksFindingsDocument(
  run: StacksRunReport,
  options: FormatOptions,
  { isOnce }: { readonly isOnce: boolean },
): Document {
  const prepared = prepareStacksRun(run);
  const blocks = listWholeParts(prepared, options, { isOnce, createDocument });
  return { ...createRunDocument(prepared, options, createDocument), blocks };
}
