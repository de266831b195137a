import { assertNever } from '../../model/errors.ts';
import type { Report } from '../report.ts';
import { renderApplyJson, renderDriftJson, renderFailureJson, renderPlanJson, renderValidationJson } from './json.ts';

/** A report as one JSON document. A plan is its file, byte for byte, whatever stands against it. */
export function renderJsonForm(report: Report): string {
  switch (report.about) {
    case 'plan':
      return renderPlanJson(report.plan);
    case 'apply':
      return renderApplyJson(report.plan, report.result);
    case 'drift':
      return renderDriftJson(report.drift);
    case 'validation':
      return renderValidationJson(report.validation, report.command);
    case 'failure':
      return renderFailureJson(report.failure);
    default:
      return assertNever(report);
  }
}
