import { appendFile, cp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { it } from 'vitest';
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
 * Clients that openapi-generator creates from the OpenAPI document, in five languages. Each is compiled, and a program in test/openapi/clients
 * creates, reads, updates, lists and deletes resources of five kinds with it: a policy with two rules of two actions among them. Java and Rust
 * compile for minutes: every night.
 */

async function generate(cwd: string, generator: string, ...args: readonly string[]): Promise<void> {
  const options = ['generate', '-i', 'openapi.json', '-g', generator, '-o', 'client'];
  await runSuccessfully('openapi-generator-cli', [...options, ...args], cwd);
}

describeWith(['openapi-generator-cli', 'openapi-typescript'], 'a client by openapi-generator typescript-fetch', () => {
  it('compiles, and manages resources of five kinds', LONG, async () => {
    const cwd = await createClientFolder('drive-fetch.ts', 'tsconfig.json');
    const packages = dirname(dirname(dirname(await findRealPath('openapi-typescript'))));
    await symlink(packages, join(cwd, 'node_modules'));
    await writeFile(join(cwd, 'package.json'), '{ "type": "module" }');
    await generate(cwd, 'typescript-fetch', '--additional-properties=importFileExtension=.js');
    await runSuccessfully(join(packages, '.bin/tsc'), ['-p', '.', '--noEmit', 'false', '--outDir', 'out'], cwd);
    await runClient(process.execPath, ['out/drive-fetch.js'], cwd, OF_FIVE_KINDS);
  });
});

describeWith(['openapi-generator-cli', 'go'], 'a client by openapi-generator go', () => {
  it('compiles, and manages resources of five kinds', LONG, async () => {
    const cwd = await createClientFolder('check.go', 'openapi-generator-go/drive.go', 'openapi-generator-go/go.mod');
    await generate(cwd, 'go', '--additional-properties=packageName=api,withGoMod=false');
    // Its tests need a package that it does not.
    await rm(join(cwd, 'client/test'), { recursive: true });
    await rename(join(cwd, 'client'), join(cwd, 'api'));
    await runSuccessfully('go', ['build', '-o', 'drive', '.'], cwd, {
      GOPROXY: 'off',
      GOFLAGS: '',
      GOTOOLCHAIN: 'local',
    });
    await runClient(join(cwd, 'drive'), [], cwd, OF_FIVE_KINDS);
  });
});

describeWith(['openapi-generator-cli'], 'a client by openapi-generator python', () => {
  it('compiles, and manages resources of five kinds', LONG, async () => {
    const cwd = await createClientFolder('drive-openapi-generator.py');
    const python = join(dirname(await findRealPath('openapi-generator-cli')), 'python');
    await generate(cwd, 'python');
    const client = join(cwd, 'client');
    await runSuccessfully(python, ['-m', 'compileall', '-q', 'openapi_client'], client);
    await cp(join(cwd, 'drive-openapi-generator.py'), join(client, 'drive.py'));
    await runClient(python, ['drive.py'], client, OF_FIVE_KINDS);
  });
});

describeEveryNight(['openapi-generator-cli', 'java', 'mvn'], 'a client by openapi-generator java', () => {
  it.each(['okhttp-gson', 'native'])(
    'compiles, and manages resources of five kinds, with the library %s',
    LONG,
    async (library) => {
      const cwd = await createClientFolder();
      await generate(cwd, 'java', '--library', library);
      const client = join(cwd, 'client');
      for (const file of ['Drive.java', `${library}/Connect.java`])
        await cp(join(FIXTURES, 'java', file), join(client, 'src/main/java', file.replace(/.*\//, '')));
      const goals = ['compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath'];
      await runSuccessfully('mvn', ['-q', '-B', ...goals], client);
      const classpath = await runSuccessfully('cat', ['classpath'], client);
      await runClient('java', ['-cp', ['target/classes', classpath].join(delimiter), 'Drive'], client, OF_FIVE_KINDS);
    },
  );
});

describeEveryNight(['openapi-generator-cli', 'cargo'], 'a client by openapi-generator rust', () => {
  it('compiles, and manages resources of five kinds', LONG, async () => {
    const cwd = await createClientFolder();
    await generate(cwd, 'rust');
    const client = join(cwd, 'client');
    await appendFile(
      join(client, 'Cargo.toml'),
      '\n[dependencies.tokio]\nversion = "1"\nfeatures = ["macros", "rt-multi-thread"]\n',
    );
    await cp(join(FIXTURES, 'rust/main.rs'), join(client, 'src/main.rs'));
    await runSuccessfully('cargo', ['build', '--quiet'], client);
    await runClient(join(client, 'target/debug/openapi'), [], client, OF_FIVE_KINDS);
  });
});
