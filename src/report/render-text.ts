import { createDocument, createStacksDocument } from './documents/create-document.ts';
import type { FormatOptions, Report, StacksRunReport } from './report.ts';
import { writeText } from './text/write-text.ts';
import { numberReport } from './view/redact.ts';

/**
 * A report as a text for a terminal. Ends with a line break. Does not escape job commands: streams of the CLI do.
 * @example
 * console.log(renderTextReport({ about: 'drift', drift }, { color: true, width: 80, verbose: false }));
 */
export function renderTextReport(report: Report, options: FormatOptions): string {
  return [...writeText(createDocument(numberReport(report), options), options)].join('');
}

/** A run over many stacks as a text for a terminal. */
export function renderRunText(run: StacksRunReport, options: FormatOptions): string {
  return [...writeText(createStacksDocument(run, options), options)].join('');
}
