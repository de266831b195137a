import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DRIFT_STATES } from '../../src/model/drift.ts';
import { listMetrics, type Metrics, sampleMetrics } from './metrics.ts';
import { startPrometheus } from './prometheus.ts';
import { describeWith, runTool } from './tools.ts';

const EXAMPLE = 'examples/pipelines/monitoring';
const RULES = join(EXAMPLE, 'edgewise.rules.yaml');
const RULE_TESTS = join(EXAMPLE, 'edgewise.rules.test.yaml');

/** A query, and what it stands in. */
interface Query {
  readonly of: string;
  readonly query: string;
}

describe('the alerts and the dashboard', () => {
  it('read metrics, labels and states that exist', async () => {
    const metrics = listMetrics(await sampleMetrics());
    const queries = [...(await listAlerts()), ...(await listPanels()), ...(await listVariables())];
    expect(queries.flatMap((query) => listFaults(query, metrics))).toEqual([]);
  });

  it('read every metric of a stack', async () => {
    const queries = [...(await listAlerts()), ...(await listPanels())].map(({ query }) => query).join('\n');
    const names = [...listMetrics(await sampleMetrics()).keys()];
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(queries))).toEqual([
      'edgewise_account_last_run_timestamp_seconds',
      // The dashboard joins what several stacks read: a stack may read some kinds only.
      'edgewise_account_managed_ratio',
    ]);
  });

  it.each([
    ['edgewise_drift > 0', 'no metric edgewise_drift'],
    ['sum by (kind) (edgewise_run_success)', 'no label kind'],
    ['edgewise_resources{stat="x"}', 'no label stat'],
    ['edgewise_resources{state=~"drifted|gone"}', 'no state gone'],
    ['label_values(edgewise_run_success, kind)', 'no label kind'],
  ])('may not ask %s', (query, fault) => {
    const metrics = new Map([
      ['edgewise_run_success', new Set(['stack'])],
      ['edgewise_resources', new Set(['stack', 'kind', 'state'])],
    ]);
    expect(listFaults({ of: 'it', query }, metrics)).toEqual([`it: ${fault}`]);
  });
});

describeWith(['promtool'], 'the alerts', () => {
  it.each([`check rules ${RULES}`, `test rules ${RULE_TESTS}`, `check config ${EXAMPLE}/prometheus.yaml`])(
    'pass promtool %s',
    async (command) => {
      const result = await runTool('promtool', command.split(' '));
      expect(result, result.output).toMatchObject({ status: 0 });
    },
  );

  it('are each tested both as they fire and as they do not', async () => {
    const { tests } = parse(await readFile(RULE_TESTS, 'utf8'));
    const cases: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[] = tests.flatMap(
      ({ alert_rule_test }: { readonly alert_rule_test: readonly unknown[] }) => alert_rule_test,
    );
    const listTested = (fires: boolean) =>
      new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname));
    const alerts = new Set((await listAlerts()).map(({ of }) => of));
    expect(listTested(true)).toEqual(alerts);
    expect(listTested(false)).toEqual(alerts);
  });
});

describeWith(['prometheus'], 'a real Prometheus', () => {
  it('raises the alerts that fit what drift wrote, and answers each query of the dashboard', async () => {
    const prometheus = await startPrometheus(RULES);
    const samples = await sampleMetrics();
    const raised: Record<string, readonly string[]> = {};
    const answered = new Set<string>();
    const panels = await listPanels();
    for (const [name, metrics] of Object.entries({ nothing: '# EOF\n', ...samples })) {
      await prometheus.serve(metrics);
      raised[name] = await prometheus.listAlerts();
      for (const { of, query } of panels)
        if ((await prometheus.countSeries(query.replaceAll('$stack', '.*'))) > 0) answered.add(of);
    }
    expect(raised).toEqual({
      nothing: ['EdgewiseNeverRan'],
      healthy: [],
      drifted: ['EdgewiseDrift'],
      dangerous: ['EdgewiseDangerousDrift', 'EdgewiseDrift'],
      unapplied: ['EdgewiseNotApplied', 'EdgewiseNothingManaged'],
      failed: ['EdgewiseRunFailed'],
      old: ['EdgewiseRunTooOld'],
      ending: ['EdgewiseCertificateEndsSoon', 'EdgewiseUnhealthy'],
    });
    expect(panels.filter(({ of }) => !answered.has(of))).toEqual([]);
  });
});

async function listAlerts(): Promise<readonly Query[]> {
  const { groups } = parse(await readFile(RULES, 'utf8'));
  const rules: readonly { readonly alert: string; readonly expr: string }[] = groups.flatMap(
    ({ rules }: { readonly rules: readonly unknown[] }) => rules,
  );
  return rules.map(({ alert, expr }) => ({ of: alert, query: expr }));
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

async function listPanels(): Promise<readonly Query[]> {
  const { panels } = await readDashboard();
  return panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ of: title, query: expr })));
}

async function listVariables(): Promise<readonly Query[]> {
  const { templating } = await readDashboard();
  return templating.list.flatMap(({ name, definition }) =>
    definition === undefined ? [] : [{ of: name, query: definition }],
  );
}

async function readDashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(join(EXAMPLE, 'edgewise.dashboard.json'), 'utf8'));
}

/** What a query asks for and nobody writes. Of several metrics in one, each must have all the labels. */
function listFaults({ of, query }: Query, metrics: Metrics): readonly string[] {
  const names = new Set(Array.from(query.matchAll(/\bedgewise_\w+/g), ([name]) => name));
  const grouped = Array.from(query.matchAll(/\bby \(([^)]*)\)|label_values\(\w+, (\w+)\)/g), ([, by, of]) => by ?? of);
  const matched = Array.from(query.matchAll(/(\w+)(?:=|!=|=~|!~)"([^"]*)"/g), ([, label = '', value = '']) => ({
    label,
    value,
  }));
  const labels = [...grouped.flatMap((text = '') => text.split(', ')), ...matched.map(({ label }) => label)];
  const states = matched.flatMap(({ label, value }) => (label === 'state' ? value.split('|') : []));
  const known: readonly string[] = DRIFT_STATES;
  const faults = [...names].flatMap((name) => {
    const has = metrics.get(name);
    if (has === undefined) return [`no metric ${name}`];
    return labels.filter((label) => !has.has(label)).map((label) => `no label ${label}`);
  });
  const unknown = states.filter((state) => !known.includes(state)).map((state) => `no state ${state}`);
  return [...faults, ...unknown].map((fault) => `${of}: ${fault}`);
}
