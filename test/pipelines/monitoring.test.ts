import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { DRIFT_STATES } from '../../src/model/drift.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';
import { listMetrics, type Metrics, sampleMetrics } from './metrics.ts';
import { startPrometheus } from './prometheus.ts';
import { startService } from './start-service.ts';
import { describeWith, runTool } from './tools.ts';

const EXAMPLE = 'examples/pipelines/monitoring';
const RULES = join(EXAMPLE, 'edgewise.rules.yaml');
const RULE_TESTS = join(EXAMPLE, 'edgewise.rules.test.yaml');

/** A query, and the alert or panel that contains it. */
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
      // The dashboard joins metrics of several stacks, because a stack may read only some kinds.
      'edgewise_account_managed_ratio',
    ]);
  });

  it.each([
    ['edgewise_drift > 0', 'no metric edgewise_drift'],
    ['sum by (kind) (edgewise_run_success)', 'no label kind'],
    ['edgewise_resources{stat="x"}', 'no label stat'],
    ['edgewise_resources{state=~"drifted|gone"}', 'no state gone'],
    ['label_values(edgewise_run_success, kind)', 'no label kind'],
  ])('are refused if they query %s', (query, fault) => {
    const metrics = new Map([
      ['edgewise_run_success', new Set(['stack'])],
      ['edgewise_resources', new Set(['stack', 'kind', 'state'])],
    ]);
    expect(listFaults({ of: 'it', query }, metrics)).toEqual([`it: ${fault}`]);
  });
});

describeWith(['promtool'], 'metrics', () => {
  it('pass promtool check metrics', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-metrics-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'stack.prom');
    await writeFile(file, (await sampleMetrics()).ending);
    const checked = await runTool('sh', ['-c', `promtool check metrics < ${file}`]);
    expect(checked).toEqual({ status: 0, output: '' });
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

  it('include the rule for a stack that never ran, as the page shows it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-rules-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const page = await readFile(join(EXAMPLE, 'README.md'), 'utf8');
    const [, rule = ''] = /```yaml\n(- alert: EdgewiseStackNeverRan\n[^`]*)```/.exec(page) ?? [];
    const series = [{ series: 'edgewise_run_success{stack="other"}', values: '1x300' }];
    const alertRuleTest = [
      { alertname: 'EdgewiseStackNeverRan', eval_time: '119m', exp_alerts: [] },
      {
        alertname: 'EdgewiseStackNeverRan',
        eval_time: '120m',
        exp_alerts: [{ exp_labels: { stack: 'production', severity: 'critical' } }],
      },
    ];
    const tests = [{ interval: '1m', input_series: series, alert_rule_test: alertRuleTest }];
    await writeFile(join(folder, 'rules.yaml'), stringify({ groups: [{ name: 'page', rules: parse(rule) }] }));
    await writeFile(join(folder, 'test.yaml'), stringify({ rule_files: ['rules.yaml'], tests }));
    const result = await runTool('promtool', ['test', 'rules', join(folder, 'test.yaml')]);
    expect(result, result.output).toMatchObject({ status: 0 });
  });

  it('are each tested in the firing and in the silent state', async () => {
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
  it('fire for what drift wrote, and each query of the dashboard returns data', async () => {
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

describeWith(['prometheus-node-exporter'], 'the textfile collector of a node exporter', () => {
  it('shows each stack before, while and after a run reads or fails', async () => {
    const { folder, edgewise, server } = await createWorkspace({ 'edgewise.yaml': `${STACK}${toEdge('a', 20001)}` });
    const flags = ['--collector.disable-defaults', '--collector.textfile', `--collector.textfile.directory=${folder}`];
    const url = await startService('prometheus-node-exporter', flags);
    const showsStack = async (success: number): Promise<boolean> => {
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).toContain('node_textfile_scrape_error 0');
      expect(text).toMatch(/edgewise_last_run_timestamp_seconds\{stack="test"\} \d/);
      return text.includes(`edgewise_run_success{stack="test"} ${success}`);
    };
    const seen: boolean[] = [];
    const drift = (status: number, before: number) =>
      edgewise('drift edgewise.yaml --report metrics=edgewise.prom', {
        transport: async (request) => {
          seen.push(await showsStack(before));
          return status === 200 ? server.handle(request) : Response.json({ msg: 'no' }, { status });
        },
      });
    await edgewise('drift edgewise.yaml --report metrics=edgewise.prom');
    await drift(401, 1);
    expect(await showsStack(0)).toBe(true);
    await drift(200, 0);
    expect(await showsStack(1)).toBe(true);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).not.toContain(false);
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

/** Lists the labels of a query that no metric has. If a query names several metrics, each must have all of its labels. */
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
