/** What one command took, the floor of its requests, and what yaml alone takes for its manifests. */
export interface Row {
  readonly edges: number;
  readonly resources: number;
  readonly command: string;
  readonly requests: number;
  readonly seconds: number;
  readonly floorSeconds: number;
  readonly cpuSeconds: number;
  readonly floorCpuSeconds: number;
  readonly yamlCpuSeconds: number;
  readonly peakMegabytes: number;
}

const COLUMNS: readonly (readonly [title: string, toCell: (row: Row) => string])[] = [
  ['TCP edges', ({ edges }) => toCount(edges)],
  ['resources', ({ resources }) => toCount(resources)],
  ['command', ({ command }) => command],
  ['requests', ({ requests }) => toCount(requests)],
  ['time', ({ seconds }) => `${seconds.toFixed(2)} s`],
  ['floor', ({ floorSeconds }) => `${floorSeconds.toFixed(2)} s`],
  ['time / floor', ({ seconds, floorSeconds }) => (seconds / floorSeconds).toFixed(2)],
  ['CPU', ({ cpuSeconds }) => `${cpuSeconds.toFixed(2)} s`],
  ['CPU / floor', ({ cpuSeconds, floorCpuSeconds }) => (cpuSeconds / floorCpuSeconds).toFixed(2)],
  ['yaml alone, CPU', ({ yamlCpuSeconds }) => `${yamlCpuSeconds.toFixed(2)} s`],
  ['CPU a resource', ({ cpuSeconds, resources }) => `${((cpuSeconds / resources) * 1000).toFixed(2)} ms`],
  ['peak memory', ({ peakMegabytes }) => `${peakMegabytes.toFixed(0)} MB`],
];

/** The rows as a Markdown table. Times are in seconds, memory in megabytes of a million bytes. */
export function renderTable(rows: readonly Row[]): string {
  const cells = [
    COLUMNS.map(([title]) => title),
    COLUMNS.map(([title]) => (title === 'command' ? '---' : '---:')),
    ...rows.map((row) => COLUMNS.map(([, toCell]) => toCell(row))),
  ];
  return cells.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** The same rows of several runs as one: the median of each figure. */
export function toMedians(runs: readonly (readonly Row[])[]): readonly Row[] {
  const [first = []] = runs;
  return first.map((row, index) => {
    const same = runs.flatMap((rows) => rows[index] ?? []);
    return {
      ...row,
      seconds: toMedian(same.map(({ seconds }) => seconds)),
      floorSeconds: toMedian(same.map(({ floorSeconds }) => floorSeconds)),
      cpuSeconds: toMedian(same.map(({ cpuSeconds }) => cpuSeconds)),
      floorCpuSeconds: toMedian(same.map(({ floorCpuSeconds }) => floorCpuSeconds)),
      yamlCpuSeconds: toMedian(same.map(({ yamlCpuSeconds }) => yamlCpuSeconds)),
      peakMegabytes: toMedian(same.map(({ peakMegabytes }) => peakMegabytes)),
    };
  });
}

function toMedian(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}

function toCount(value: number): string {
  return value.toLocaleString('en');
}
