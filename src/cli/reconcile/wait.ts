import { awaitPendingResources, type PendingResource } from '../../client/await-work.ts';
import type { ResourceWaitResult } from '../../model/outcome.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatWaitTime } from '../../report/view/wording.ts';
import type { ReadingClient } from '../../stack/plan-live.ts';
import type { SetNoticeWriter } from '../connection/notices.ts';
import type { Context } from '../context.ts';
import { callPeriodically, createStatusLine, getProgressStream } from '../output/progress.ts';

export interface VisibleWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Redirects the notices of the client to the output that shows the progress. */
  readonly setLineWriter: SetNoticeWriter;
}

/** Waits until the service has finished with the resources. Shows progress and the remaining time on stderr. */
export async function awaitPendingResourcesWithProgress(
  client: ReadingClient,
  subjects: readonly PendingResource[],
  { timeoutMs, signal, setLineWriter }: VisibleWait,
  context: Context,
): Promise<readonly ResourceWaitResult[]> {
  const { now, sleep, after } = context;
  const output = getProgressStream(context);
  const line = createStatusLine(output);
  const deadline = now().getTime() + timeoutMs;
  let said = ['', ''];
  const show = (): void => {
    const left = formatWaitTime(Math.max(0, deadline - now().getTime()));
    // The time comes before the names, because a narrow terminal may cut off the end.
    const [done = '', what = ''] = said;
    if (done !== '') line.show(toPrintable(`${done}, ${left} left at most: ${what}`));
  };
  const stop = callPeriodically(show, { ...output, after });
  setLineWriter(line.tell);
  try {
    return await awaitPendingResources(client, subjects, {
      ...{ timeoutMs, now, sleep, signal },
      onReading: (all, [first, ...others]) => {
        const more = others.length === 0 ? '' : `, and ${others.length} more`;
        const done = all.filter(({ state }) => state === 'ready').length;
        said = [`${done} of ${all.length} ready`, `${first?.address}: ${first?.message}${more}`];
        show();
      },
    });
  } finally {
    stop();
    line.clear();
    setLineWriter(undefined);
  }
}
