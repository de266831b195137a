import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFetchTransport } from '../../src/client/undici-transport.ts';
import { atUrl, sendByHand } from '../by-hand.ts';
import { runCommand } from '../cli/fake-context.ts';
import { COMPILED } from '../compiled.ts';
import { hideVersion } from '../hide-version.ts';
import { commitAll, git } from '../repository/tree.ts';
import { type Ended, PROGRAM, type ServerProcess, startServerProcess } from './processes.ts';

/** A repository of twenty stacks with the commands of its users: real processes, git, and a service on a port. */
describe('a repository of twenty stacks', () => {
  const NAMES = Array.from({ length: 20 }, (_, index) => `s${String(index + 1).padStart(2, '0')}`);
  let folder = '';
  let server: ServerProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-journey-'));
    server = await startServerProcess(['--api-key', 'key:admin']);
  });

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** The environment of a job. */
  const toEnvironment = () => ({
    EDGEWISE_BASE_URL: server.url,
    EDGEWISE_API_KEY: 'key',
    PATH: process.env['PATH'] ?? '',
  });

  /** Runs a line in this process, which takes a fraction of the time. */
  function edgewise(line: string): Promise<Ended> {
    const clock = { now: () => new Date() };
    return runCommand(line.split(' '), {
      cwd: folder,
      env: toEnvironment(),
      transport: createFetchTransport(),
      ...clock,
    });
  }

  /** Runs a line as a job does. */
  function runJob(line: string): Promise<Ended> {
    const env = { ...COMPILED, ...toEnvironment(), NO_COLOR: '1' };
    return new Promise((done) => {
      execFile(process.execPath, [PROGRAM, ...line.split(' ')], { cwd: folder, env }, (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
        done({ exitCode, stdout, stderr });
      });
    });
  }

  async function expectDone(line: string, run = edgewise): Promise<string> {
    const { exitCode, stdout, stderr } = await run(line);
    expect(exitCode, `${line}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  function edit(file: string, change: (text: string) => string): void {
    const path = join(folder, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  async function listIds(): Promise<ReadonlyMap<string, string>> {
    const { stacks } = JSON.parse(await expectDone('get -R live --format json'));
    const owned: readonly (readonly [string, string])[] = stacks.flatMap(
      ({
        folder: at,
        inventory,
      }: {
        readonly folder: string;
        readonly inventory: { readonly resources: readonly Owned[] };
      }) => inventory.resources.map(({ address, id }) => [`${at} ${address}`, id] as const),
    );
    return new Map(owned);
  }

  it('is created, changed in a pull request that touches three, applied despite a failure, and complete at the end', async () => {
    for (const name of NAMES) await expectDone(`init live/${name} --name ${name}`);
    // All examples listen on one address, which only one resource can claim.
    expect((await edgewise('validate -R live')).exitCode).toBe(3);
    for (const [index, name] of NAMES.entries())
      edit(`live/${name}/example.yaml`, (text) =>
        text.replace(':20001', `:${20_001 + index}`).replace(/^ {2}backend:\n.*\n/m, ''),
      );
    const created = await expectDone('apply -R live --yes', runJob);
    expect(created).toMatch(/^20 stacks below live\. /m);
    commitAll(folder);
    git(folder, 'checkout', '-q', '-b', 'change');
    const before = await listIds();
    expect(before.size).toBe(20);

    // The pull request changes one stack, and moves a resource from the second to the third.
    edit('live/s01/example.yaml', (text) => text.replace('description: An', 'description: Another'));
    edit('live/s02/edgewise.yaml', (text) => `${text}spec:\n  handed_over: [TCPEdge/example]\n`);
    renameSync(join(folder, 'live/s02/example.yaml'), join(folder, 'live/s03/moved.yaml'));
    edit('live/s03/moved.yaml', (text) => {
      const renamed = text.replace('name: example', 'name: moved');
      return `${renamed}lifecycle:\n  renamed_from: { stack: s02, name: example }\n`;
    });
    commitMore('three');
    const listed = await runJob('stacks live --changed-since main --format github');
    expect(listed.stderr).toBe('3 of 20 stacks below live changed since main.\n');
    const { include }: { readonly include: readonly Job[] } = JSON.parse(listed.stdout);
    expect(include.map(({ stack }) => stack)).toEqual(['s01', 's02', 's03']);

    // A job for each stack has its own plan, and one run over all of them has one comment.
    for (const { stack } of include) {
      const { exitCode } = await edgewise(`plan -R live --stack ${stack} -o plan-${stack} --detailed-exitcode`);
      expect([stack, exitCode]).toEqual([stack, stack === 's02' ? 0 : 2]);
    }
    const comment = await runJob('plan -R live --changed-since main --format markdown');
    expect(comment.exitCode).toBe(0);
    await expect(hideVersion(toComparable(comment.stdout))).toMatchFileSnapshot('goldens/journey-comment.md');

    // The merge. Another user changed s01 between its plan and the apply: that stack fails, and the others do not.
    await expectDone('plan -R live --changed-since main -o plans --report html=plan.html');
    await changeByHand(before.get('live/s01 TCPEdge/example') ?? '');
    const applied = await runJob('apply -R live --changed-since main --approved plans --yes');
    expect(applied.exitCode).toBe(6);
    await expect(toComparable(applied.stdout)).toMatchFileSnapshot('goldens/journey-apply.txt');
    const between = await listIds();
    expect(between.get('live/s03 TCPEdge/moved')).toBe(before.get('live/s02 TCPEdge/example'));

    // A new plan is empty, and no resource was missing at any time.
    await expectDone('apply -R live --yes');
    await expectDone('drift -R live');
    expect([...(await listIds()).values()].sort()).toEqual([...before.values()].sort());
    const nothing = await edgewise('plan -R live --changed-since HEAD --detailed-exitcode');
    expect(nothing).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('No stack has changed since HEAD; 20 stacks below live.'),
    });
  }, 180_000);

  function commitMore(message: string): void {
    git(folder, 'add', '-A');
    git(folder, 'commit', '-q', '-m', message);
  }

  async function changeByHand(id: string): Promise<void> {
    const body = { description: 'changed by hand' };
    await sendByHand(atUrl(server.url, 'key'), 'PATCH', `/edges/tcp/${id}`, body);
  }

  /** Removes the parts that differ in each run. */
  function toComparable(text: string): string {
    const ids = new Map<string, string>();
    return (
      text
        .replaceAll(server.url, 'http://127.0.0.1:PORT')
        // An anchor depends on the port.
        .replace(/(?<=name="danger-)[\w-]+/g, 'ANCHOR')
        .replace(/edgtcp_\w+/g, (id) => {
          const known = ids.get(id) ?? `edgtcp_${ids.size + 1}`;
          ids.set(id, known);
          return known;
        })
        .replace(/\d{4}\\?-\d{2}-\d{2} \d{2}:(?:&#8203;)?\d{2} UTC/g, 'TIME')
    );
  }
});

interface Owned {
  readonly address: string;
  readonly id: string;
}

/** A job of the matrix. */
interface Job {
  readonly stack: string;
  readonly folder: string;
}
