import { countDriftStates, DRIFT_STATES, type Drift, isComplete, toCoverage } from '../../model/drift.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Report } from '../report.ts';

/**
 * A comparison as gauges, in OpenMetrics text that collectors of text files read as well. Source: OpenMetrics 1.0. A command that came to no
 * result says just that, so that an old result is not taken for a new one.
 */
export function renderMetricsForm(report: Report): string {
  const families = report.about === 'drift' ? listFamilies(report.drift) : [toSuccess(false, {})];
  return `${families
    .filter(({ samples }) => samples.length > 0)
    .map(renderFamily)
    .join('')}# EOF\n`;
}

interface Family {
  /** With the unit at its end, where there is one. */
  readonly name: string;
  readonly unit?: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function listFamilies(drift: Drift): readonly Family[] {
  const { stack, at, requests } = drift;
  return [
    toSuccess(isComplete(drift), { stack }),
    {
      name: 'edgewise_last_run_timestamp_seconds',
      unit: 'seconds',
      help: 'When the comparison was made.',
      samples: [{ labels: { stack }, value: Date.parse(at) / 1000 }],
    },
    {
      name: 'edgewise_requests',
      help: 'Requests that the comparison took.',
      samples: [{ labels: { stack }, value: requests }],
    },
    { name: 'edgewise_resources', help: 'Resources by kind and state.', samples: listResourceSamples(drift) },
    {
      name: 'edgewise_drifted_fields',
      help: 'Fields that were changed at the service.',
      samples: listFieldSamples(drift),
    },
    {
      name: 'edgewise_managed_ratio',
      unit: 'ratio',
      help: 'Share of what is live that a stack manages.',
      samples: [{ labels: { stack }, value: toCoverage(drift).share }],
    },
    {
      name: 'edgewise_health_warnings',
      help: 'Warnings on what is live, by code.',
      samples: countBy(drift.diagnostics.map(({ code }) => ({ stack, code }))),
    },
    {
      name: 'edgewise_next_certificate_end_seconds',
      unit: 'seconds',
      help: 'Time until the next certificate ends; negative when it has.',
      samples: listNextEnd(drift),
    },
  ];
}

function toSuccess(isSuccess: boolean, labels: Sample['labels']): Family {
  return {
    name: 'edgewise_run_success',
    help: '1 when the comparison came to a result.',
    samples: [{ labels, value: Number(isSuccess) }],
  };
}

/** Every state of every kind that was read, so that a gauge that comes down to nothing is 0 and not gone. */
function listResourceSamples(drift: Drift): readonly Sample[] {
  const { stack, resources, strangers } = drift;
  const kinds = [...new Set([...drift.kinds, ...resources.map(({ kind }) => kind)])];
  return kinds.flatMap((kind) => {
    const counts = countDriftStates({ ...drift, resources: resources.filter((one) => one.kind === kind) });
    const others = strangers.filter((one) => one.kind === kind);
    const foreign = others.filter((one) => one.stack !== undefined).length;
    return [
      ...DRIFT_STATES.map((state) => ({ labels: { stack, kind, state }, value: counts[state] })),
      { labels: { stack, kind, state: 'foreign' }, value: foreign },
      { labels: { stack, kind, state: 'unmanaged' }, value: others.length - foreign },
    ];
  });
}

function listFieldSamples({ stack, kinds, resources }: Drift): readonly Sample[] {
  const counts = new Map(kinds.map((kind) => [kind, 0]));
  for (const { kind, differences, moved = [] } of resources) {
    const drifted = differences.filter(({ origin }) => origin === 'drift' || origin === 'both');
    const fields = new Set([...drifted.map(({ path }) => path), ...moved]);
    counts.set(kind, (counts.get(kind) ?? 0) + fields.size);
  }
  return [...counts].map(([kind, value]) => ({ labels: { stack, kind }, value }));
}

function listNextEnd({ stack, at, resources }: Drift): readonly Sample[] {
  const ends = resources.flatMap(({ address, validUntil }) => {
    const until = Date.parse(validUntil ?? '');
    return Number.isNaN(until) ? [] : [{ address, until }];
  });
  const [next] = ends.sort((left, right) => left.until - right.until);
  if (next === undefined) return [];
  return [{ labels: { stack, address: next.address }, value: (next.until - Date.parse(at)) / 1000 }];
}

function countBy(labels: readonly Sample['labels'][]): readonly Sample[] {
  const groups = Map.groupBy(labels, (one) => JSON.stringify(one));
  return [...groups.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ labels: first, value: more.length + 1 }],
  );
}

function renderFamily({ name, unit, help, samples }: Family): string {
  const lines = [
    `# TYPE ${name} gauge`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${help}`,
    ...samples.map(({ labels, value }) => `${name}${renderLabels(labels)} ${value}`),
  ];
  return `${lines.join('\n')}\n`;
}

function renderLabels(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${toLabelValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Printable first, so that what is left to escape are quotes and backslashes. */
function toLabelValue(text: string): string {
  return toPrintable(text).replace(/["\\]/g, (character) => `\\${character}`);
}
