import { assertDefined } from '../../model/errors.ts';
import { isJsonObject, parseJson } from '../../model/json.ts';
import type { FormOptions } from '../report.ts';
import type { StackPart, StacksReport } from '../stacks-report.ts';
import { toStacksView } from '../view/stacks-view.ts';
import { renderDocument, renderJsonForm } from './json.ts';
import { type EventBody, renderEventLine, renderJsonLinesForm } from './json-lines.ts';

/** A run over many stacks as one document: for each what its own document says. */
export function renderStacksReportJson(run: StacksReport, { exitCode = 0 }: FormOptions): string {
  const { rows, summary } = toStacksView(run);
  return renderDocument({
    format: 1,
    command: run.command,
    ok: exitCode === 0 || exitCode === 2,
    root: run.root,
    exitCode,
    summary,
    stacks: run.parts.map(({ name, folder, keyEnv, exitCode: own, report }, index) => ({
      stack: name,
      folder,
      ...(keyEnv !== undefined && { keyEnv }),
      exitCode: own,
      summary: rows[index]?.said ?? '',
      report: parseJson(renderJsonForm(report)),
    })),
  });
}

/** The events of every stack, each with its name, and a summary of the run at the end. What an apply has sent while it ran stands first. */
export function renderStacksJsonLines(run: StacksReport, options: FormOptions): string {
  const { rows, summary } = toStacksView(run);
  const events = run.parts.flatMap((part) => listEvents(part, options));
  const { at = new Date(0), exitCode = null, sent = { text: '', count: 0 } } = options;
  const stacks = run.parts.map(({ name, folder, exitCode: own }, index) => {
    return { stack: name, folder, exit_code: own, summary: rows[index]?.said ?? '' };
  });
  const last = { event: 'run-summary', command: run.command, exit_code: exitCode, summary, stacks };
  const lines = [...events, last].map((body, index) =>
    renderEventLine(body, { seq: sent.count + index + 1, time: at }),
  );
  return `${sent.text}${lines.join('')}`;
}

/** What of a stack was sent while it was applied is not sent again. */
function listEvents(
  { name, folder, exitCode, report }: StackPart,
  { sent, ...options }: FormOptions,
): readonly EventBody[] {
  const known = sent?.parts?.has(folder) === true ? { sent: { text: '', count: 1 } } : {};
  const lines = renderJsonLinesForm(report, { ...options, ...known, exitCode })
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const value = assertDefined(parseJson(line), 'an event that was just rendered');
    const { event, seq: _seq, time: _time, ...body } = isJsonObject(value) ? value : {};
    return { ...body, event: String(event), stack: name };
  });
}
