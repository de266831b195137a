import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { isJsonArray, isJsonObject } from '../../src/model/json.ts';
import { atUrl, sendByHand } from '../by-hand.ts';
import { requireProgramOrSkip } from '../needs.ts';

const run = promisify(execFile);
const PROGRAM = resolve(process.env['EDGEWISE_BIN'] ?? 'src/cli/main.ts');
const SCRIPT = resolve('examples/pipelines/accept-drift.sh');

/** The page of an apply that runs. */
const URL_OF_APPLY = 'https://forge.test/runs/9';

const MANIFESTS = `apiVersion: edgewise/v1
kind: Stack
metadata: { name: shop }
---
# Owned by the data team.
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: pg }
spec:
  hostports: ["1.tcp.example.net:20001"] # the port of the runbook
`;

/** A checkout with a remote, a service, and a `gh` that records how it is called. */
async function createCheckout() {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [work, bin] = [join(folder, 'work'), join(folder, 'bin')];
  const server = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--api-key', 'dev:admin']);
  onTestFinished(() => void server.kill());
  const baseUrl = await new Promise<string>((found) => {
    let log = '';
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (part) => {
        log += String(part);
        const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(log) ?? [];
        if (url !== undefined) found(url);
      });
  });
  await mkdir(join(work, 'manifests'), { recursive: true });
  await mkdir(bin);
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(bin, name), 0o755);
  };
  await write('edgewise', `exec '${process.execPath}' '${PROGRAM}' "$@"`);
  await write(
    'gh',
    `echo "$*" >> '${folder}/gh.log'; [ "$1" = run ] && echo ${URL_OF_APPLY}; [ "$2" = create ] && cp "$8" '${folder}/body.md'; true`,
  );
  await writeFile(join(work, 'manifests/all.yaml'), MANIFESTS);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: folder,
    EDGEWISE_BASE_URL: baseUrl,
    EDGEWISE_API_KEY: 'dev',
    EDGEWISE_RATE_LIMIT: 'none',
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'a'],
        [`GIT_${who}_EMAIL`, 'a@example.com'],
      ]),
    ),
  };
  const call = async (program: string, ...words: readonly string[]): Promise<string> =>
    (await run(program, words, { cwd: work, env })).stdout;
  await call('git', 'init', '--quiet', '--bare', join(folder, 'remote.git'));
  await call('git', 'init', '--quiet', '--initial-branch', 'main');
  await call('git', 'add', '-A');
  await call('git', 'commit', '--quiet', '-m', 'manifests');
  await call('git', 'remote', 'add', 'origin', join(folder, 'remote.git'));
  await call('edgewise', 'apply', 'manifests', '--yes');
  return { folder, call, service: atUrl(baseUrl) };
}

it('proposes drift on a branch, as a pull request with the dangers', async () => {
  requireProgramOrSkip('git');
  const { folder, call, service } = await createCheckout();
  const { tcp_edges: edges } = await sendByHand(service, 'GET', '/edges/tcp');
  const edge = isJsonArray(edges) ? edges[0] : undefined;
  const id = isJsonObject(edge) ? edge['id'] : undefined;
  const hostports = ['1.tcp.example.net:20001', '1.tcp.example.net:20009'];
  await sendByHand(service, 'PATCH', `/edges/tcp/${id}`, { hostports });
  await call(SCRIPT, 'manifests');
  const pushed = await call(
    'git',
    '--git-dir',
    join(folder, 'remote.git'),
    'show',
    'edgewise/drift:manifests/all.yaml',
  );
  expect(pushed).toBe(MANIFESTS.replace('20001"]', '20001", "1.tcp.example.net:20009"]'));
  expect(await readFile(join(folder, 'gh.log'), 'utf8')).toMatch(/\npr create --head edgewise\/drift /);
  const text = await readFile(join(folder, 'body.md'), 'utf8');
  expect(text).toContain('TCPEdge/pg');
  expect(text).toContain(`An apply was running (${URL_OF_APPLY})`);
  // The proposal of the next night is the same.
  await call('git', 'switch', '--quiet', 'main');
  await call(SCRIPT, 'manifests');
  expect(await call('git', 'diff', 'main', '--stat', '--', 'manifests')).toContain('1 file changed');
});
