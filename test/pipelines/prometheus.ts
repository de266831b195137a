import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { startService } from './start-service.ts';

/** A Prometheus that reads the metrics of a test. */
export interface Prometheus {
  /** Replaces the metrics, and waits until they are read and the rules are evaluated. */
  serve(metrics: string): Promise<void>;
  /** Lists the names of alerts that are firing or pending. */
  listAlerts(): Promise<readonly string[]>;
  /** Counts the series of a query. */
  countSeries(query: string): Promise<number>;
}

/** Starts a real Prometheus for one test, with a file of rules. It reads and evaluates four times a second. */
export async function startPrometheus(rules: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-prometheus-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const source = await startSource();
  const config = `global: { scrape_interval: 250ms, evaluation_interval: 250ms, scrape_timeout: 250ms }
rule_files: ['${resolve(rules)}']
scrape_configs:
  - job_name: edgewise
    honor_labels: true
    static_configs: [{ targets: ['${source.address}'] }]
`;
  await writeFile(join(folder, 'prometheus.yml'), config);
  const url = await startService('prometheus', toFlags(folder), 'ready to receive');
  const ask = async (path: string): Promise<Answer> => {
    const body = await (await fetch(`${url}/api/v1/${path}`)).json();
    return (body as { readonly data: Answer }).data; // the members of each response of its API
  };
  const countSeries: Prometheus['countSeries'] = async (query) => {
    const { result = [] } = await ask(`query?query=${encodeURIComponent(query)}`);
    return result.length;
  };
  return {
    countSeries,
    serve: async (metrics) => {
      const marker = source.serve(metrics);
      while ((await countSeries(`served == ${marker}`)) === 0) await sleepWith(50);
      // Two evaluations, because the first may have begun before the new metrics.
      for (let seen = 0, last = ''; seen <= 2; await sleepWith(50)) {
        const { groups = [] } = await ask('rules');
        const time = groups[0]?.lastEvaluation ?? '';
        if (time !== last) seen += 1;
        last = time;
      }
    },
    listAlerts: async () => {
      const { alerts = [] } = await ask('alerts');
      return [...new Set(alerts.map(({ labels }) => labels.alertname))].sort();
    },
  };
}

/** A response of its API. The query decides which member is present. */
interface Answer {
  readonly result?: readonly unknown[];
  readonly groups?: readonly { readonly lastEvaluation: string }[];
  readonly alerts?: readonly { readonly labels: { readonly alertname: string } }[];
}

/** Serves the metrics to scrape. Each text has its own number. */
async function startSource(): Promise<{ readonly address: string; readonly serve: (metrics: string) => number }> {
  let number = 0;
  let text = '# EOF\n';
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/openmetrics-text; version=1.0.0; charset=utf-8');
    response.end(text);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    address: `127.0.0.1:${port}`,
    serve: (metrics) => {
      number += 1;
      text = `# TYPE served gauge\nserved ${number}\n${metrics}`;
      return number;
    },
  };
}

function toFlags(folder: string): readonly string[] {
  return [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, '--log.level=info'];
}

function sleepWith(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms));
}
