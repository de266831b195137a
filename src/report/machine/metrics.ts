import { countDangersByGroup, DANGER_GROUP_NAMES } from '../../model/danger.ts';
import {
  countDriftStates,
  countResourcesByOwner,
  DRIFT_STATES,
  type Drift,
  isEveryTargetCompared,
} from '../../model/drift.ts';
import { escapeJobCommands } from '../../model/job-commands.ts';
import { omitUndefined } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { DriftReport, FormatOptions, Report, StacksRunReport } from '../report.ts';

/**
 * Gauges on the drift of a stack and of its account, in OpenMetrics text that a textfile collector can also read. Each
 * sample has a label with the stack, so that one folder can hold the files of several stacks. If a command did not
 * complete, `edgewise_run_success` is 0, and there is only the time of the run beside it, so that an old result is not
 * mistaken for a new one. Source: OpenMetrics 1.0.
 */
export function renderDriftMetrics(report: Report, { at }: Pick<FormatOptions, 'at'>): string {
  if (report.about !== 'drift') return renderFamilies(listFailedRunFamilies(createMetricLabels(report), at));
  return renderFamilies([...listStackFamilies(report.drift), ...listAccountFamilies(report)]);
}

/** The gauges of each stack of a run, then the gauges of each account once, even if several stacks use the account. */
export function renderStacksMetrics({ parts }: StacksRunReport, { at }: Pick<FormatOptions, 'at'>): string {
  const found = parts.flatMap(({ keyEnv, report }) =>
    report.about === 'drift' ? [{ drift: report.drift, keyEnv }] : [],
  );
  const ofStacks = parts.flatMap(({ name, report }) =>
    report.about === 'drift' ? listStackFamilies(report.drift) : listFailedRunFamilies({ stack: name }, at),
  );
  const accounts = Map.groupBy(found, ({ keyEnv, drift }) => JSON.stringify([drift.baseUrl, keyEnv]));
  const ofAccounts = [...accounts.values()].flatMap((readings) => {
    const [widest] = readings.toSorted((left, right) => right.drift.kinds.length - left.drift.kinds.length);
    return widest === undefined ? [] : [...listAccountFamilies(widest), createAbsentFamily(widest)];
  });
  return renderFamilies(joinFamilies([...ofStacks, ...ofAccounts]));
}

/** Merges families of the same name, because OpenMetrics requires that all samples of a family are together. */
function joinFamilies(families: readonly Family[]): readonly Family[] {
  return [...Map.groupBy(families, ({ name }) => name).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, samples: [first, ...others].flatMap(({ samples }) => samples) }],
  );
}

function renderFamilies(families: readonly Family[]): string {
  return `${families
    .filter(({ samples }) => samples.length > 0)
    .map(renderFamily)
    .join('')}# EOF\n`;
}

/** `at`: the time of the run. */
function listFailedRunFamilies(labels: Sample['labels'], at: Date | undefined): readonly Family[] {
  return [createSuccessFamily(false, labels), ...(at === undefined ? [] : [createTimeFamily(at, labels)])];
}

/** Labels of the gauges of a run if the command did not complete. Empty if the stack is unknown. */
function createMetricLabels(report: Report): Sample['labels'] {
  return report.about === 'failure' && report.failure.stack !== undefined ? { stack: report.failure.stack } : {};
}

interface Gauge {
  /** The name ends with it. */
  readonly unit?: 'seconds' | 'ratio' | undefined;
  /** `key_env` only if the key has a variable of its own. */
  readonly labels: readonly string[];
  readonly help: string;
}

/** The URL and the variable of the key identify an account. */
const ACCOUNT = ['stack', 'base_url', 'key_env'];

/** Every gauge, by its name, in the order of the file. */
export const GAUGES = {
  edgewise_run_success: { labels: ['stack'], help: '1 if the comparison completed.' },
  edgewise_last_run_timestamp_seconds: {
    unit: 'seconds',
    labels: ['stack'],
    help: 'When the comparison was made or failed.',
  },
  edgewise_requests: { labels: ['stack'], help: 'Requests that the comparison took.' },
  edgewise_resources: { labels: ['stack', 'kind', 'state'], help: 'Resources by kind and state.' },
  edgewise_drifted_fields: { labels: ['stack', 'kind'], help: 'Fields that were changed at the service.' },
  edgewise_drift_dangers: { labels: ['stack', 'group'], help: 'Dangers of the changes at the service, by group.' },
  edgewise_health_warnings: { labels: ['stack', 'code'], help: 'Warnings about live resources, by code.' },
  edgewise_certificate_end_timestamp_seconds: {
    unit: 'seconds',
    labels: ['stack', 'address'],
    help: 'When a certificate expires.',
  },
  edgewise_retirement_timestamp_seconds: {
    unit: 'seconds',
    labels: ['stack', 'address'],
    help: 'When an old credential or certificate, which was replaced, is deleted.',
  },
  edgewise_account_last_run_timestamp_seconds: {
    unit: 'seconds',
    labels: ACCOUNT,
    help: 'When the account was read.',
  },
  edgewise_account_resources: {
    labels: [...ACCOUNT, 'kind', 'managed'],
    help: 'Live resources by kind, and by whether a stack manages them.',
  },
  edgewise_account_managed_ratio: {
    unit: 'ratio',
    labels: ACCOUNT,
    help: 'Share of live resources that a stack manages.',
  },
  edgewise_account_absent_stack_resources: {
    labels: ACCOUNT,
    help: 'Live resources with the mark of a stack that is not in the repository.',
  },
} satisfies Readonly<Record<string, Gauge>>;

/** A gauge with its samples. */
interface Family {
  readonly name: keyof typeof GAUGES;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function listStackFamilies(drift: Drift): readonly Family[] {
  const { stack, made, requests } = drift;
  return [
    createSuccessFamily(isEveryTargetCompared(drift), { stack }),
    createTimeFamily(new Date(made.at), { stack }),
    { name: 'edgewise_requests', samples: [{ labels: { stack }, value: requests.read }] },
    { name: 'edgewise_resources', samples: listResourceSamples(drift) },
    { name: 'edgewise_drifted_fields', samples: listFieldSamples(drift) },
    { name: 'edgewise_drift_dangers', samples: listDangerSamples(drift) },
    {
      name: 'edgewise_health_warnings',
      samples: countEqualLabels(drift.diagnostics.map(({ code }) => ({ stack, code }))),
    },
    { name: 'edgewise_certificate_end_timestamp_seconds', samples: listEnds(drift) },
    {
      name: 'edgewise_retirement_timestamp_seconds',
      samples: drift.changes.flatMap(({ address, retiresAt }) =>
        retiresAt === undefined ? [] : [{ labels: { stack, address }, value: Date.parse(retiresAt) / 1000 }],
      ),
    },
  ];
}

/** The state of an account according to one drift report. */
type AccountReading = Pick<DriftReport, 'drift' | 'keyEnv'>;

/** The label `stack` names the stack whose report is used. */
function createAccountLabels({ drift, keyEnv }: AccountReading): Sample['labels'] {
  return omitUndefined({ stack: drift.stack, base_url: drift.baseUrl, key_env: keyEnv });
}

function listAccountFamilies({ drift, keyEnv }: AccountReading): readonly Family[] {
  const labels = createAccountLabels({ drift, keyEnv });
  return [
    {
      name: 'edgewise_account_last_run_timestamp_seconds',
      samples: [{ labels, value: Date.parse(drift.made.at) / 1000 }],
    },
    { name: 'edgewise_account_resources', samples: listAccountSamples(drift, labels) },
    { name: 'edgewise_account_managed_ratio', samples: [{ labels, value: countResourcesByOwner(drift).share }] },
  ];
}

/** Only for runs over many stacks, which know the stacks of the repository. */
function createAbsentFamily({ drift, keyEnv }: AccountReading): Family {
  const value = drift.unowned.filter(({ absence }) => absence !== undefined).length;
  const labels = createAccountLabels({ drift, keyEnv });
  return { name: 'edgewise_account_absent_stack_resources', samples: [{ labels, value }] };
}

function createSuccessFamily(isSuccess: boolean, labels: Sample['labels']): Family {
  return { name: 'edgewise_run_success', samples: [{ labels, value: Number(isSuccess) }] };
}

function createTimeFamily(at: Date, labels: Sample['labels']): Family {
  return { name: 'edgewise_last_run_timestamp_seconds', samples: [{ labels, value: at.getTime() / 1000 }] };
}

/** Includes every state of every kind that was read, so that a gauge falls to 0 instead of disappearing. */
function listResourceSamples(drift: Drift): readonly Sample[] {
  const { stack, changes } = drift;
  const kinds = [...new Set([...drift.kinds, ...changes.map(({ kind }) => kind)])];
  return kinds.flatMap((kind) => {
    const counts = countDriftStates({ changes: changes.filter((one) => one.kind === kind) });
    return DRIFT_STATES.map((state) => ({ labels: { stack, kind, state }, value: counts[state] }));
  });
}

function listAccountSamples(drift: Drift, labels: Sample['labels']): readonly Sample[] {
  return drift.kinds.flatMap((kind) => {
    const ofKind = (one: { readonly kind: string }): boolean => one.kind === kind;
    const { changes, unowned } = drift;
    const part = { ...drift, changes: changes.filter(ofKind), unowned: unowned.filter(ofKind) };
    const { owned, ofOtherStacks, unmanaged } = countResourcesByOwner(part);
    return [
      { labels: { ...labels, kind, managed: 'yes' }, value: owned + ofOtherStacks },
      { labels: { ...labels, kind, managed: 'no' }, value: unmanaged },
    ];
  });
}

function listFieldSamples({ stack, kinds, changes }: Drift): readonly Sample[] {
  const counts = new Map(kinds.map((kind) => [kind, 0]));
  for (const { kind, differences } of changes) {
    const drifted = differences.filter(({ origin }) => origin === 'drift' || origin === 'both');
    const fields = new Set(drifted.map(({ path }) => path));
    counts.set(kind, (counts.get(kind) ?? 0) + fields.size);
  }
  return [...counts].map(([kind, value]) => ({ labels: { stack, kind }, value }));
}

/** Includes every group, so that a gauge falls to 0 instead of disappearing. */
function listDangerSamples({ stack, changes }: Drift): readonly Sample[] {
  const counts = countDangersByGroup(changes.flatMap(({ driftDangers = [] }) => driftDangers));
  return DANGER_GROUP_NAMES.map((group) => ({ labels: { stack, group }, value: counts[group] }));
}

/** The end of validity of each address. If several resources have the same address, takes the earliest end. */
function listEnds({ stack, changes }: Drift): readonly Sample[] {
  const ends = new Map<string, number>();
  for (const { address, validUntil } of changes) {
    const end = Date.parse(validUntil ?? '') / 1000;
    if (!Number.isNaN(end)) ends.set(address, Math.min(end, ends.get(address) ?? end));
  }
  return [...ends].map(([address, value]) => ({ labels: { stack, address }, value }));
}

function countEqualLabels(labels: readonly Sample['labels'][]): readonly Sample[] {
  const groups = Map.groupBy(labels, (one) => JSON.stringify(one));
  return [...groups.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ labels: first, value: more.length + 1 }],
  );
}

function renderFamily({ name, samples }: Family): string {
  const { unit, help }: Gauge = GAUGES[name];
  const lines = [
    `# TYPE ${name} gauge`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${help}`,
    ...samples.map(({ labels, value }) => `${name}${renderLabels(labels)} ${value}`),
  ];
  return `${lines.join('\n')}\n`;
}

function renderLabels(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabelValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** Escapes what a terminal or a CI system would act on first, so that only quotes and backslashes are left to escape. */
function escapeLabelValue(text: string): string {
  return escapeJobCommands(toPrintable(text)).replace(/["\\]/g, (character) => `\\${character}`);
}
