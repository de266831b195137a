import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { atUrl, sendByHand } from '../by-hand.ts';
import { COMPILED } from '../compiled.ts';
import { hideVersion } from '../hide-version.ts';
import { commitAll, git } from '../repository/tree.ts';
import { type Ended, runEdgewise, type ServerProcess, startServerProcess } from './processes.ts';

/**
 * A platform team with twenty stacks: with the package as npm packs it, processes, a repository and a service on a socket. Each command is the
 * next one that a person types.
 */

const TEAMS = Array.from({ length: 20 }, (_, index) => `team-${String(index + 1).padStart(2, '0')}`);

const DEFAULTS = (url: string) => `apiVersion: edgewise/v1
kind: Defaults
spec:
  api: { base_url: ${url}, rate_limit: none }
  team_label: team
  policies: [policies]
`;

const POLICY = `apiVersion: edgewise/v1
kind: Policy
metadata: { name: edges-have-a-team }
spec:
  match: { kinds: [TCPEdge] }
  require: '"team" in labels'
  message: say whose the edge is
`;

const INGRESS = `apiVersion: edgewise/v1
kind: AgentIngress
metadata: { name: agents }
spec: { domain: agents.example.com }
`;

function toEdge(team: string, index: number): string {
  return `apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: entry
  labels: { team: ${team} }
spec:
  description: The entry of ${team}
  hostports: ["1.tcp.example.net:${20_001 + index}"]
`;
}

describe('a platform team with twenty stacks', () => {
  let folder: string;
  let program: string;
  let server: ServerProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-monday-'));
    program = unpack(folder);
    server = await startServerProcess(['--api-key', 'key:admin'], { program });
    mkdirSync(join(folder, 'repository'));
  }, 120_000);

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** The environment of the person's shell, and nothing else. */
  const toEnvironment = () => ({ ...COMPILED, EDGEWISE_API_KEY: 'key', PATH: process.env['PATH'], NO_COLOR: '1' });

  /** Types a line in the repository. */
  function type(line: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const words = line.replace(/^edgewise /, '').split(' ');
    const options = { cwd: join(folder, 'repository'), env: { ...toEnvironment(), ...env } };
    return new Promise((done) => {
      execFile(process.execPath, [program, ...words], options, (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
        done({ exitCode, stdout, stderr });
      });
    });
  }

  async function expectDone(line: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { exitCode, stdout, stderr } = await type(line, env);
    expect(exitCode, `${line}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  function write(file: string, text: string): void {
    mkdirSync(join(folder, 'repository', file, '..'), { recursive: true });
    writeFileSync(join(folder, 'repository', file), text);
  }

  function edit(file: string, from: string, to: string): void {
    const path = join(folder, 'repository', file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  }

  /** Sends a request as a user without manifests. */
  function call(method: string, path: string, body?: object): Promise<JsonObject> {
    return sendByHand(atUrl(server.url, 'key'), method, path, body);
  }

  /** Returns the output without the parts that differ in each run. */
  function toComparable(text: string): string {
    const ids = new Map<string, string>();
    return text
      .replaceAll(server.url, 'http://127.0.0.1:PORT')
      .replace(/\b(?:edgtcp|agin)_\w+/g, (id) => {
        const known = ids.get(id) ?? `${id.split('_')[0]}_${ids.size + 1}`;
        ids.set(id, known);
        return known;
      })
      .replace(/\d{4}\\?-\d{2}-\d{2} \d{2}:(?:&#8203;)?\d{2} UTC/g, 'TIME')
      .replace(/#danger-[\w-]+|name="danger-[\w-]+"/g, 'DANGER');
  }

  it('goes from an empty repository to a hand-over, with next commands that work', async () => {
    // Shared settings are in one file, and a stack has three lines.
    write('defaults.yaml', DEFAULTS(server.url));
    write('policies/teams.yaml', POLICY);
    for (const [index, team] of TEAMS.entries()) {
      const said = await expectDone(`edgewise init live/${team} --name ${team}`);
      expect(said).toContain('The settings of the stack are those of defaults.yaml.');
      write(`live/${team}/example.yaml`, toEdge(team, index));
    }
    expect(readFileSync(join(folder, 'repository/live/team-07/edgewise.yaml'), 'utf8')).toBe(
      'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: team-07 }\n',
    );
    commitAll(join(folder, 'repository'));

    // The most frequent commands.
    const all = await type('edgewise plan live');
    expect(all).toMatchObject({ exitCode: 3 });
    expect(all.stderr).toMatchInlineSnapshot(`
      "error[duplicate-settings]: these are 20 stacks: team-01, team-02, team-03, team-04, team-05 and 15 more
        help: Give the path of one, such as live/team-01. With -R (--recursive), the commands that have it take all of them.

      1 error.
      "
    `);
    expect(await expectDone('edgewise explain settings live/team-07')).toMatch(
      /^team_label +team +Defaults defaults\.yaml:5$/m,
    );
    await expectDone('edgewise plan -R live -o plans');
    const applied = await expectDone('edgewise apply -R live --approved plans --yes');
    expect(applied).toContain('20 stacks below live.');
    await expectDone('edgewise drift -R live');

    // A pull request: planned without trust, reviewed, approved, and applied as approved after the merge.
    git(join(folder, 'repository'), 'checkout', '-q', '-b', 'change');
    edit('live/team-03/example.yaml', '1.tcp.example.net:20003', '1.tcp.example.net:20103');
    commitAll(join(folder, 'repository'));
    const untrusted = `edgewise plan live/team-03 --untrusted --base-url ${server.url} --rate-limit none`;
    const comment = await expectDone(`${untrusted} -o approved.json --format markdown`);
    await expect(hideVersion(toComparable(comment))).toMatchFileSnapshot('goldens/platform-team-comment.md');
    expect(await type('edgewise apply live/team-03 --untrusted --yes')).toMatchObject({ exitCode: 5 });
    edit('live/team-03/example.yaml', 'The entry of', 'Changed after the approval of');
    expect((await type('edgewise apply live/team-03 --approved approved.json --yes')).exitCode).toBe(6);
    edit('live/team-03/example.yaml', 'Changed after the approval of', 'The entry of');
    await expectDone('edgewise apply live/team-03 --approved approved.json --yes');

    // A saved plan, and the command that a user of other tools tries: it shows the one that works.
    edit('live/team-04/example.yaml', 'The entry of', 'The one entry of');
    await expectDone('edgewise plan live/team-04 -o b.json');
    const tried = await type('edgewise apply b.json --yes');
    expect(tried.exitCode).toBe(3);
    const [shown = ''] = / apply MANIFESTS --approved b\.json/.exec(tried.stderr) ?? [];
    await expectDone(`edgewise${shown.replace('MANIFESTS', 'live/team-04')} --yes`);

    // The result says what is left to the user.
    write('live/team-05/agents.yaml', INGRESS);
    const created = await expectDone('edgewise apply live/team-05 --yes');
    expect(toComparable(created)).toMatch(/ns_targets|name servers/);

    // A user changes an edge by hand. The type is that of the list in the API.
    const { tcp_edges: edges } = (await call('GET', '/edges/tcp')) as unknown as {
      readonly tcp_edges: readonly { readonly id: string; readonly description: string }[];
    };
    const sixth = edges.find(({ description }) => description === 'The entry of team-06');
    await call('PATCH', `/edges/tcp/${sixth?.id}`, { description: 'mine now' });
    const drift = await type('edgewise drift -R live');
    expect(drift.exitCode).toBe(2);
    expect(toComparable(drift.stdout)).toContain(
      'description: "The entry of team-06" → "mine now"  (changed at the service)',
    );
    await expectDone('edgewise apply live/team-06 --yes');

    // A resource moves to another team, in one run.
    renameSync(
      join(folder, 'repository/live/team-08/example.yaml'),
      join(folder, 'repository/live/team-09/moved.yaml'),
    );
    edit('live/team-09/moved.yaml', 'name: entry', 'name: moved');
    edit('live/team-09/moved.yaml', 'spec:', 'lifecycle:\n  renamed_from: { stack: team-08, name: entry }\nspec:');
    edit(
      'live/team-08/edgewise.yaml',
      '{ name: team-08 }\n',
      '{ name: team-08 }\nspec: { handed_over: [TCPEdge/entry] }\n',
    );
    const moved = await expectDone('edgewise apply -R live --yes');
    expect(moved).toMatch(/^team-09 +live\/team-09 +1 write applied/m);
    expect(await expectDone('edgewise plan -R live --detailed-exitcode')).toContain('20 stacks below live.');
  }, 240_000);

  it('ends an apply whose service fails with one sentence and a remedy', async () => {
    const own = await startServerProcess(['--api-key', 'key:admin'], { program });
    const work = join(folder, 'dying');
    mkdirSync(work);
    const edges = Array.from({ length: 60 }, (_, index) => toEdge('x', 1000 + index).replace('entry', `e${index}`));
    writeFileSync(join(work, 'edgewise.yaml'), 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: dying }\n');
    writeFileSync(join(work, 'edges.yaml'), edges.join('---\n'));
    const env = { ...toEnvironment(), EDGEWISE_BASE_URL: own.url, EDGEWISE_RATE_LIMIT: '30/5s' };
    const child = spawn(process.execPath, [program, 'apply', work, '--yes', '--timeout', '2s'], { env, stdio: 'pipe' });
    const parts: string[] = [];
    const shown: string[] = [];
    child.stdout.on('data', (part) => shown.push(String(part)));
    const said = new Promise<void>((done) => {
      child.stderr.on('data', (part) => {
        parts.push(String(part));
        if (/\[5\/60\]/.test(parts.join(''))) done();
      });
    });
    await said;
    await own.stop();
    const exitCode = await new Promise((done) => child.once('close', done));
    expect(exitCode).toBe(1);
    // Each sent write has a line, and the unsent ones share one.
    const text = parts.join('');
    const [, count = '0'] =
      /^(\d+) writes were not started, because the service cannot be reached\.$/m.exec(text) ?? [];
    expect(Number(count), text).toBeGreaterThan(10);
    expect(text.match(/^\[\d+\/60\]/gm)).toHaveLength(60 - Number(count));
    const end = shown.join('');
    expect(end).toContain(`\nSkipped:\n  ${count} writes were not started, because the service cannot be reached.\n`);
    expect(end).toMatch(
      /\nNext:\n {2}Check that the service runs and can be reached from here\. Requests that were not sent changed nothing\.\n {2}Run apply again\. /,
    );
  }, 180_000);

  it('stays within 120 requests a minute, and says what it waits for', async () => {
    const limited = await startServerProcess(['--api-key', 'key:admin', '--rate-limit', '20/2s'], { program });
    try {
      const env = { ...toEnvironment(), EDGEWISE_BASE_URL: limited.url, EDGEWISE_RATE_LIMIT: '18/2s' };
      const work = join(folder, 'limited');
      mkdirSync(work);
      const edges = Array.from({ length: 40 }, (_, index) => toEdge('x', 2000 + index).replace('entry', `e${index}`));
      writeFileSync(join(work, 'edgewise.yaml'), 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: limited }\n');
      writeFileSync(join(work, 'edges.yaml'), edges.join('---\n'));
      const { exitCode, stderr, stdout } = await runEdgewise(['apply', work, '--yes'], env, program);
      expect(exitCode, stdout + stderr).toBe(0);
      expect(stdout).toContain('40 writes applied');
      expect(stderr).not.toMatch(/429|refused/);
      expect(stderr.split('\n').length).toBeLessThan(60);
    } finally {
      await limited.stop();
    }
  }, 180_000);
});

/** Unpacks the package as npm packs it into its own folder: the command line needs no other package. */
function unpack(folder: string): string {
  expect(existsSync('dist/cli.js'), 'npm run build writes dist/cli.js').toBe(true);
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { stdio: 'pipe' });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', folder]);
  return resolve(folder, 'package/dist/cli.js');
}
