import { cp, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { OPERATIONS } from '../../src/kinds/operations.ts';
import { isSuccess } from '../../src/model/http.ts';
import { createServer, listen, parseApiKey, type Server } from '../../src/server/index.ts';
import { describeWith, runTool } from '../pipelines/tools.ts';

/**
 * Clients that four generators create from the OpenAPI document, in three languages. Each is compiled, and a program in test/openapi/clients
 * calls every operation with its types.
 */

const FIXTURES = resolve('test/openapi/clients');

/** A server that records which operations were called with a documented response. */
function createRecordingServer(called: Set<string>): Server {
  const server = createServer({ apiKeys: [parseApiKey('dev:admin')] });
  return server.behind((send) => async (request) => {
    const response = await send(request);
    const path = new URL(request.url).pathname;
    const operation = OPERATIONS.find((one) => one.method === request.method && toPattern(one.path).test(path));
    if (isSuccess(response) && operation !== undefined) called.add(operation.id);
    return response;
  });
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Runs a program with the URL and a key. Expects that it calls every operation. */
async function runClient(program: string, args: readonly string[], cwd: string): Promise<void> {
  const called = new Set<string>();
  const { url, close } = await listen(createRecordingServer(called), { port: 0 });
  onTestFinished(close);
  const { status, output } = await runTool(program, [...args, url, 'dev'], { cwd });
  expect(status, output).toBe(0);
  expect([...called].sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
}

/** Creates a folder with the document and the sources to compile. */
async function createClientFolder(...files: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-clients-'));
  await cp('schemas/openapi.json', join(folder, 'openapi.json'));
  for (const file of files) await cp(join(FIXTURES, file), join(folder, basename(file)));
  return folder;
}

async function runSuccessfully(program: string, args: readonly string[], cwd: string, env = {}): Promise<string> {
  const { status, output } = await runTool(program, args, { cwd, env });
  expect(status, output).toBe(0);
  return output;
}

/** Resolves the links of a program on the PATH. */
async function findRealPath(name: string): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = await Promise.any(folders.map((folder) => realpath(join(folder, name))));
  return found;
}

describeWith(['openapi-typescript'], 'a client by openapi-typescript', () => {
  it('compiles, refuses wrong types, and calls every operation', { timeout: 120_000 }, async () => {
    const cwd = await createClientFolder('drive.ts', 'tsconfig.json');
    const packages = dirname(dirname(dirname(await findRealPath('openapi-typescript'))));
    await symlink(packages, join(cwd, 'node_modules'));
    await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
    await runSuccessfully('openapi-typescript', ['openapi.json', '--output', 'schema.d.ts'], cwd);
    await runSuccessfully(join(packages, '.bin/tsc'), ['-p', '.'], cwd);
    await runClient(process.execPath, ['drive.ts'], cwd);
  });
});

describeWith(['oapi-codegen', 'go'], 'a client by oapi-codegen', () => {
  it('compiles and calls every operation', { timeout: 240_000 }, async () => {
    const cwd = await createClientFolder('check.go', 'drive.go', 'go.mod', 'go.sum');
    const client = await runSuccessfully(
      'oapi-codegen',
      ['-generate', 'types,client', '-package', 'main', 'openapi.json'],
      cwd,
    );
    await writeFile(join(cwd, 'client.go'), client);
    // Its modules were downloaded when the tools were installed.
    await runSuccessfully('go', ['build', '-o', 'drive', '.'], cwd, {
      GOPROXY: 'off',
      GOFLAGS: '',
      GOTOOLCHAIN: 'local',
    });
    await runClient(join(cwd, 'drive'), [], cwd);
  });
});

describeWith(['ogen', 'go'], 'a client by ogen', () => {
  it('compiles and calls every operation', { timeout: 240_000 }, async () => {
    const cwd = await createClientFolder('check.go', 'ogen/drive.go', 'ogen/go.mod', 'ogen/go.sum');
    await runSuccessfully('ogen', ['--target', 'api', '--package', 'api', 'openapi.json'], cwd);
    // Its modules were downloaded when the tools were installed.
    await runSuccessfully('go', ['build', '-o', 'drive', '.'], cwd, {
      GOPROXY: 'off',
      GOFLAGS: '',
      GOTOOLCHAIN: 'local',
    });
    await runClient(join(cwd, 'drive'), [], cwd);
  });
});

describeWith(['openapi-python-client'], 'a client by openapi-python-client', () => {
  it('compiles, can express every body, and calls every operation', { timeout: 120_000 }, async () => {
    const cwd = await createClientFolder();
    const generated = join(cwd, 'client');
    const python = join(dirname(await findRealPath('openapi-python-client')), 'python');
    const made = await runSuccessfully(
      'openapi-python-client',
      ['generate', '--path', 'openapi.json', '--output-path', 'client'],
      cwd,
    );
    expect(made).not.toMatch(/unsupported|ignor|Endpoint will not|error/i);
    await cp(join(FIXTURES, 'drive.py'), join(generated, 'drive.py'));
    await runSuccessfully(python, ['-m', 'compileall', '-q', '.'], generated);
    await runClient(python, ['drive.py'], generated);
  });
});
