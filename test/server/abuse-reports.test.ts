import { describe, expect, it } from 'vitest';
import { parseServerSeed, type ServerOptions, type ServerSeed } from '../../src/server/index.ts';
import { getList, getText } from './caller.ts';
import { createTestServer, type TestServer } from './test-server.ts';

type Rules = NonNullable<ServerSeed['abuse_report_rules']>;

interface Reported extends TestServer {
  readonly path: string;
  /** The status of the report, then those of its host names. */
  readonly readStatuses: () => Promise<readonly unknown[]>;
}

async function submitReport(hostnames: readonly string[], options: ServerOptions = {}): Promise<Reported> {
  const test = createTestServer(options);
  const urls = hostnames.map((hostname) => `https://${hostname}/`);
  const created = await test.call('POST', '/abuse_reports', { body: { urls } });
  const path = `/abuse_reports/${getText(created.body['id'])}`;
  return { ...test, path, readStatuses: () => readStatuses(test, path) };
}

async function readStatuses({ call }: TestServer, path: string): Promise<readonly unknown[]> {
  const { body } = await call('GET', path);
  return [body['status'], ...getList(body['hostnames']).map(({ status }) => status)];
}

function withRules(...rules: Rules): ServerOptions {
  return { seed: { abuse_report_rules: rules } };
}

describe('an abuse report', () => {
  it('is decided host name by host name, on the clock of the server', async () => {
    const { readStatuses, wait } = await submitReport(['nowhere.invalid', 'a.example.com']);
    wait(9);
    expect(await readStatuses()).toEqual(['PENDING', 'PENDING', 'PENDING']);
    wait(1);
    expect(await readStatuses()).toEqual(['PARTIALLY_PROCESSED', 'IGNORE', 'PENDING']);
    wait(20);
    expect(await readStatuses()).toEqual(['PROCESSED', 'IGNORE', 'BANNED']);
  });

  it('is decided by the first rule of the seed for a host name', async () => {
    const { readStatuses, wait } = await submitReport(
      ['good.example.com', 'example.com', 'notexample.com', 'A.B.EXAMPLE.com.'],
      withRules(
        { hostname: 'good.example.com', status: 'UNBANNED', after_seconds: 1 },
        { hostname: 'Example.com', status: 'BANNED', after_seconds: 60 },
        { hostname: '*', status: 'IGNORE' },
      ),
    );
    wait(1);
    expect(await readStatuses()).toEqual(['PARTIALLY_PROCESSED', 'UNBANNED', 'PENDING', 'PENDING', 'PENDING']);
    wait(29);
    expect(await readStatuses()).toEqual(['PARTIALLY_PROCESSED', 'UNBANNED', 'PENDING', 'IGNORE', 'PENDING']);
    wait(30);
    expect(await readStatuses()).toEqual(['PROCESSED', 'UNBANNED', 'BANNED', 'IGNORE', 'BANNED']);
  });

  it('stays open for a host name without a rule', async () => {
    const { readStatuses, wait } = await submitReport(
      ['a.example.com', 'b.example.com', 'c.example.net'],
      withRules(
        { hostname: 'a.example.com', status: 'PENDING', after_seconds: 1 },
        { hostname: 'example.com', status: 'BANNED', after_seconds: 1 },
      ),
    );
    wait(10 * 365 * 24 * 3600);
    expect(await readStatuses()).toEqual(['PARTIALLY_PROCESSED', 'PENDING', 'BANNED', 'PENDING']);
    const undecided = await submitReport(['a.example.com'], withRules());
    undecided.wait(3600);
    expect(await undecided.readStatuses()).toEqual(['PENDING', 'PENDING']);
  });

  it('continues in the next server, as do the rules', async () => {
    const first = await submitReport(
      ['a.example.com'],
      withRules({ hostname: '*', status: 'IGNORE', after_seconds: 120 }),
    );
    const snapshot = parseServerSeed(JSON.stringify(first.server.snapshot()));
    const next = createTestServer({ seed: snapshot });
    next.wait(119);
    expect(await readStatuses(next, first.path)).toEqual(['PENDING', 'PENDING']);
    next.wait(1);
    expect(await readStatuses(next, first.path)).toEqual(['PROCESSED', 'IGNORE']);
    expect(next.server.snapshot().abuse_report_rules).toEqual(snapshot.abuse_report_rules);
    const other = createTestServer({ seed: { ...snapshot, abuse_report_rules: [] } });
    other.wait(120);
    expect(await readStatuses(other, first.path)).toEqual(['PROCESSED', 'IGNORE']);
  });

  it('in a seed has been waiting since it was created', async () => {
    const old = { id: 'abrp_old', urls: ['https://a.example.com/'], created_at: '2026-01-01T00:00:00Z' };
    const test = createTestServer({ seed: { resources: { AbuseReport: [old] } } });
    expect(await readStatuses(test, '/abuse_reports/abrp_old')).toEqual(['PROCESSED', 'BANNED']);
  });
});

describe('the rules of a seed', () => {
  it.each<[string, object]>([
    ['no host name', { status: 'BANNED' }],
    ['an empty host name', { hostname: '', status: 'BANNED' }],
    ['no status', { hostname: '*' }],
    ['a status that there is not', { hostname: '*', status: 'DELETED' }],
    ['no time at all, since a new report is pending', { hostname: '*', status: 'BANNED', after_seconds: 0 }],
    ['a field that there is not', { hostname: '*', status: 'BANNED', after: 1 }],
  ])('are refused with %s', (_, rule) => {
    const parse = () => parseServerSeed(JSON.stringify({ abuse_report_rules: [rule] }));
    expect(parse).toThrow(RangeError);
    expect(parse).toThrow(/^abuse_report_rules\[0\]/);
  });

  it('are in a snapshot only if the seed has them', () => {
    expect(createTestServer().server.snapshot()).not.toHaveProperty('abuse_report_rules');
    expect(createTestServer(withRules()).server.snapshot()).toHaveProperty('abuse_report_rules', []);
  });
});
