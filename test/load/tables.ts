import type { Heap } from './apply-through-limit.ts';
import { type Crowd, toPercentile } from './clients.ts';
import type { BudgetRun } from './keep-budget.ts';
import type { ShapeRun } from './run-shape.ts';

/** What `npm run load` prints: Markdown tables. */

/** A run by the name under which it is listed. */
export type Named<T> = readonly [name: string, run: T];

/** How the applies kept to their rate limits. */
export function renderBudgets(runs: readonly Named<BudgetRun>[]): string {
  const rows = runs.map(([name, { requests, refused, ms, leastMs }]) => {
    const times = [leastMs, ms].map((time) => `${(time / 1000).toFixed(1)} s`);
    return [name, requests.toLocaleString('en'), String(refused), ...times, (ms / leastMs).toFixed(3)];
  });
  return renderTable(['apply of 10,001 resources', 'requests', '429', 'least time', 'time', 'time / least'], rows);
}

/** What resources take when they are divided among stacks and accounts. */
export function renderShapes(runs: readonly ShapeRun[]): string {
  const rows = runs.map(({ shape, command, requests, least, cpuSeconds, peakMegabytes, minutes }) => {
    const { stacks, accounts, resources } = shape;
    const cpu = `${((1000 * cpuSeconds) / resources).toFixed(2)} ms`;
    const counts = [stacks, accounts, resources / stacks].map((count) => count.toLocaleString('en'));
    const asked = [requests, least].map((count) => count.toLocaleString('en'));
    return [command, ...counts, ...asked, cpu, `${peakMegabytes.toFixed(0)} MB`, minutes.toFixed(1)];
  });
  const head = [
    'command',
    'stacks',
    'accounts',
    'resources each',
    'requests',
    'least',
    'CPU a resource',
    'peak memory',
    'minutes',
  ];
  return renderTable(head, rows);
}

/** How the server answered many clients at once. */
export function renderCrowd(
  { requests, errors, latenciesMs }: Crowd,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): string {
  const failed = [...errors.values()].reduce((sum, count) => sum + count, 0);
  const shares = [0.5, 0.95, 0.99, 1].map((share) =>
    latenciesMs.length === 0 ? NOT_MEASURED : `${toPercentile(latenciesMs, share).toFixed(1)} ms`,
  );
  const cells = [String(clients), `${seconds} s`, requests.toLocaleString('en'), String(failed), ...shares];
  return renderTable(['clients', 'for', 'requests', 'errors', 'median', '95 %', '99 %', 'longest'], [cells]);
}

/** What programs had on their heaps. One that ended within ten seconds has nothing to show after ten. */
export function renderHeaps(heaps: readonly Named<Heap>[]): string {
  const rows = heaps.map(([name, { afterTenSeconds, atTheEnd }]) => [
    name,
    ...[afterTenSeconds, atTheEnd].map((bytes) =>
      bytes === undefined ? NOT_MEASURED : `${(bytes / 1e6).toFixed(1)} MB`,
    ),
  ]);
  return renderTable(['heap after a collection', 'after 10 s', 'at the end'], rows);
}

const NOT_MEASURED = '–';

/** The seconds that a command line asks for; a minute when it does not. Throws `RangeError` on anything but a number above zero. */
export function parseSeconds(text: string | undefined): number {
  const seconds = Number(text ?? 60);
  if (seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new RangeError(`npm run load -- SECONDS takes a number above zero, not ${text}`);
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
