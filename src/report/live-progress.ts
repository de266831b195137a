import type { ApplyEvent, Outcome } from '../model/outcome.ts';
import type { Write } from '../model/plan.ts';
import { toPrintable } from '../model/printable.ts';
import { toPaint } from './color.ts';
import { renderApplyEventText } from './text-event.ts';
import { toClipped } from './text-layout.ts';
import type { TextOptions } from './text-options.ts';

/** What a terminal shows while an apply runs. A model only: the caller draws, and replaces what `render` gave before. */
export interface LiveProgress {
  /** Takes in an event. Returns the lines to leave standing above the live ones: what went wrong, and diagnostics. */
  readonly apply: (event: ApplyEvent) => readonly string[];
  /** The live lines as of now: writes under way, then counts. None takes more than one row of the terminal. */
  readonly render: () => readonly string[];
}

/** Writes under way that are named; more are counted. */
const MAX_ROWS = 8;

/** A live view of an apply of `total` writes. */
export function createLiveProgress(total: number, options: TextOptions): LiveProgress {
  const running = new Map<string, Write>();
  const ended = { applied: 0, failed: 0, skipped: 0 };
  return {
    apply: (event) => {
      if (event.event === 'write-started') running.set(event.write.id, event.write);
      if (event.event === 'write-ended') {
        running.delete(event.result.write.id);
        ended[event.result.outcome] += 1;
      }
      return isWorthKeeping(event) ? (renderApplyEventText(event, options) ?? '').split('\n') : [];
    },
    render: () => [...renderRunning([...running.keys()], options), renderCounts(ended, { ...options, total })],
  };
}

/** What went well is counted, and listed at the end. */
function isWorthKeeping(event: ApplyEvent): boolean {
  return event.event === 'diagnostic' || (event.event === 'write-ended' && event.result.outcome !== 'applied');
}

function renderRunning(ids: readonly string[], { color, width }: TextOptions): readonly string[] {
  const paint = toPaint(color);
  const hidden = ids.length - MAX_ROWS;
  const rows = ids.slice(0, MAX_ROWS).map((id) => `  ${toPrintable(id)} …`);
  const more = hidden > 0 ? [`  and ${hidden} more …`] : [];
  return [...rows, ...more].map((row) => paint('muted', toClipped(row, width)));
}

function renderCounts(
  { applied, failed, skipped }: Readonly<Record<Outcome['outcome'], number>>,
  { color, width, total }: TextOptions & { readonly total: number },
): string {
  const bad = [...(failed === 0 ? [] : [`${failed} failed`]), ...(skipped === 0 ? [] : [`${skipped} skipped`])];
  const line = [`${applied + failed + skipped} of ${total} done`, ...bad].join(', ');
  return toPaint(color)(failed === 0 ? 'strong' : 'error', toClipped(line, width));
}
