import { assertNever } from '../../model/errors.ts';
import type { ApplyEvent, Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';

/** Version of the shape of events. Fields may be added without raising it. */
const EVENT_FORMAT = 1;

/** An event but for its number and its time, which it gets when it is sent. */
export interface EventBody {
  readonly event: string;
  readonly [name: string]: unknown;
}

/** A stream of events as lines of JSON, each with its number, from 1, and its time. */
export interface EventStream {
  readonly send: (body: EventBody) => void;
  /** Everything that was sent, and how many events that is. */
  readonly sent: () => SentEvents;
}

/** What a stream holds already. */
export interface SentEvents {
  readonly text: string;
  readonly count: number;
}

/** A stream that hands on each line as it is sent. */
export function createEventStream(now: () => Date, write: (line: string) => void): EventStream {
  let sent: SentEvents = { text: '', count: 0 };
  return {
    send: (body) => {
      const line = renderEventLine(body, { seq: sent.count + 1, time: now() });
      sent = { text: sent.text + line, count: sent.count + 1 };
      write(line);
    },
    sent: () => sent,
  };
}

/** An event as a line of JSON. Nothing in it acts on a terminal. */
export function renderEventLine(
  { event, ...body }: EventBody,
  { seq, time }: { readonly seq: number; readonly time: Date },
): string {
  return `${toPrintable(JSON.stringify({ event, seq, time: time.toISOString(), ...body }))}\n`;
}

/** The events before the first write: what is applied, and what its plan has to say. */
export function listStartEvents(plan: Plan): readonly EventBody[] {
  const { mode, stack, baseUrl, writes, diagnostics } = plan;
  return [
    { event: 'start', format: EVENT_FORMAT, command: mode, stack, base_url: baseUrl, writes: writes.length },
    ...diagnostics.map((diagnostic) => ({ event: 'diagnostic', diagnostic })),
  ];
}

/** What happens during an apply as an event. */
export function toEventBody(event: ApplyEvent): EventBody {
  switch (event.event) {
    case 'write-started':
      return { event: 'write-started', write: event.write.id, address: event.write.address };
    case 'write-ended':
      return { ...toOutcomeEvent(event.result), done: event.done, total: event.total };
    case 'diagnostic':
      return { event: 'diagnostic', diagnostic: event.diagnostic };
    default:
      return assertNever(event);
  }
}

function toOutcomeEvent(result: Outcome): EventBody {
  const { write, outcome, ...facts } = result;
  const event = outcome === 'applied' ? 'write-done' : `write-${outcome}`;
  return { event, write: write.id, address: write.address, ...facts };
}
