import { cp, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { describeEveryNight, describeWith } from '../pipelines/tools.ts';
import {
  createClientFolder,
  FIXTURES,
  findRealPath,
  LONG,
  OF_FIVE_KINDS,
  runClient,
  runSuccessfully,
} from './client-folder.ts';

/**
 * Clients that five generators create from the OpenAPI document, in four languages. Each is compiled, and a program in test/openapi/clients
 * calls every operation with its types, or manages resources of five kinds.
 */

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

/** Progenitor reads OpenAPI 3.0 only. Rust compiles for minutes. */
describeEveryNight(['cargo'], 'a client by progenitor', () => {
  it('compiles, and manages resources of five kinds', LONG, async () => {
    const cwd = await createClientFolder('progenitor/Cargo.toml');
    await cp('schemas/openapi-3.0.json', join(cwd, 'openapi-3.0.json'));
    await cp(join(FIXTURES, 'progenitor/main.rs'), join(cwd, 'src/main.rs'));
    await runClient('cargo', ['run', '--quiet', '--'], cwd, OF_FIVE_KINDS);
  });
});
