import { assertNever } from '../../model/errors.ts';
import type { ApplyEvent, Outcome } from '../../model/outcome.ts';
import { toPrintable } from '../../model/printable.ts';
import { toPaint } from './color.ts';
import { renderDiagnosticLines } from './diagnostics.ts';
import type { TextOptions } from './options.ts';

/** One event as lines for a pipe or a log, such as `[3/12] create TCPEdge/postgres … done`; nothing for a start. */
export function renderApplyEventText(event: ApplyEvent, options: TextOptions): string | undefined {
  switch (event.event) {
    case 'write-started':
      return undefined;
    case 'write-ended':
      return `[${event.done}/${event.total}] ${toPrintable(event.result.write.id)} … ${renderEnd(event.result, options)}`;
    case 'diagnostic':
      return renderDiagnosticLines(event.diagnostic, options).join('\n');
    default:
      return assertNever(event);
  }
}

function renderEnd(result: Outcome, { color }: TextOptions): string {
  const paint = toPaint(color);
  switch (result.outcome) {
    case 'applied':
      return paint('added', 'alreadyDone' in result ? 'was done before' : 'done');
    case 'failed': {
      const how = result.isUnknown ? 'failed, and may have taken effect' : 'failed';
      return `${paint('error', how)}: ${toPrintable(result.message)}`;
    }
    case 'skipped':
      return `${paint('warning', 'skipped')}: ${toPrintable(result.message)}`;
    default:
      return assertNever(result);
  }
}
