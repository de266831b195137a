import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { DOCUMENT_KINDS } from '../../src/schemas/document.ts';
import { createManifestJsonSchema } from '../../src/schemas/manifest.ts';
import { PUBLISHED_SCHEMAS } from '../../src/schemas/published.ts';
import { readOnlyStack } from '../results.ts';
import { runCommand } from './fake-context.ts';
import { createWorkspace, STACK, toEdge, toTranscript } from './workspace.ts';

describe('usage', () => {
  it.each([
    ['an unknown command', 'deploy'],
    ['an unknown option', 'plan --frobnicate'],
    ['a bad format', 'plan --format yaml'],
    ['a target that is not an address', 'plan --target postgres'],
    ['a bad port', 'serve --port 70000'],
    ['a bad rate limit', 'serve --rate-limit fast'],
    ['a bad report id', 'abuse-report get 17'],
    ['a report without URLs', 'abuse-report submit'],
    ['an invalid URL', 'abuse-report submit ftp://example.com'],
    ['an unknown kind', 'schema Widget'],
    ['a missing plan file', 'show missing.json'],
    ['an invalid timeout', 'plan . --timeout never'],
    ['an invalid base URL', 'plan . --base-url example.com'],
    ['a bad API key of the server', 'serve --api-key dev:root'],
    ['a missing seed', 'serve --seed missing.json'],
    ['an invalid seed', 'serve --seed stack.yaml'],
    ['two equal keys', 'serve --api-key a --api-key a:admin'],
    ['an embedded server with a broken file', 'plan . --base-url embedded:stack.yaml'],
  ])('refuses %s with exit code 3 and no request', async (_, line) => {
    const { edgewise, recorder } = await createWorkspace({ 'stack.yaml': STACK });
    const result = await edgewise(line);
    expect(result.exitCode, toTranscript(result)).toBe(3);
    expect(result.stderr).not.toBe('');
    expect(recorder.take()).toEqual([]);
  });

  it.each([
    ['import', 'edgewise export'],
    ['report', '--report FORMAT=FILE writes the result of a command to a file.'],
    ['preview', 'edgewise plan'],
    ['list', 'edgewise get'],
    ['DELETE', 'edgewise destroy'],
    ['aply', 'Did you mean `apply`?'],
    ['lint', 'edgewise validate'],
    ['frobnicate', 'edgewise help lists the commands.'],
    ['foo', 'edgewise help lists the commands.'],
    ['gt', 'Did you mean `get`?'],
    ['taint', 'edgewise apply --rotate ADDRESS'],
    ['output', 'edgewise get'],
    ['install', 'edgewise apply makes'],
  ])('names what replaces %s', async (word, remedy) => {
    const { exitCode, stderr } = await runCommand([word, '--yes', 'manifests'], { cwd: '/' });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(new RegExp(`^edgewise: There is no command ${word}[.]\n`));
    expect(stderr).toContain(remedy);
  });

  it.each([
    ['plan --frobnicate', "Unknown option '--frobnicate'.\nedgewise plan --help shows its usage."],
    ['plan --detailed-exit-code', "Unknown option '--detailed-exit-code'.\nDid you mean --detailed-exitcode?"],
    ['apply --auto-approve', "Unknown option '--auto-approve'.\n--yes applies without asking."],
    ['apply -auto-approve', '-auto-approve is not an option.\n--yes applies without asking.'],
    ['apply -parallelism=4', '-parallelism=4 is not an option.\nspec.api.concurrency in the Stack'],
    ['apply -y', "Unknown option '-y'.\n--yes applies without asking."],
    ['apply --plan plan.json', '--approved PLAN applies only what that plan file approves.'],
    ['plan --output json', '--format sets the format of the result.'],
    ['plan --json', '--format sets the format of the result.'],
    ['plan -v', '--verbose shows more'],
    [
      'apply --dry-run',
      "Unknown option '--dry-run'.\nedgewise plan shows what an apply would write, and writes nothing.",
    ],
    [
      'apply --force',
      "Unknown option '--force'.\nA plan that a safety rule refuses names the option that allows it, such as --allow-deletes.",
    ],
    ['apply -f manifests', 'Name folders and files without an option, such as edgewise apply manifests.'],
    ['plan --filename manifests', 'such as edgewise plan manifests.'],
    ['release TCPEdge/a -R live', 'edgewise release is for one stack: name its folder, without this option.'],
    ['diff manifests', 'edgewise plan shows what an apply of manifests would change.'],
    ['plan --policy rules.yaml', '--policies names a file or folder with more policies.'],
    ['apply --token-dir tokens', 'Did you mean --token-directory?'],
    ['plan --request-timeout 5s', "Unknown option '--request-timeout'.\n--timeout limits a whole request."],
    ['plan --body-timeout=5s', 'spec.api.timeouts.body in the Stack'],
    ['plan --page-size 7', 'spec.api.page_size in the Stack'],
    ['apply --stack web --yes', 'Add -R (--recursive).'],
    ['init --stack shop', '--name is the name of the new stack.'],
    ['export --stack shop', '--owner names the stack that will own the resources.'],
    ['plan --concurrency 1', 'spec.api.concurrency in the Stack'],
    ['plan --base-ulr x', 'Did you mean --base-url?'],
    ['apply --ye', 'Did you mean --yes?'],
    ['plan --no-rehersal', 'Did you mean --no-rehearsal?'],
    ['plan --foo', "Unknown option '--foo'.\nedgewise plan --help shows its usage."],
    ['plan --f', "Unknown option '--f'.\nedgewise plan --help shows its usage."],
    ['plan --jsn', "Unknown option '--jsn'.\nedgewise plan --help shows its usage."],
    ['abuse-report foo', "Unknown command 'foo'.\nedgewise abuse-report --help shows its usage."],
    ['abuse-report sbmit', "Unknown command 'sbmit'.\nDid you mean submit?"],
    ['show', "Missing required argument 'plan'.\nedgewise show --help shows its usage."],
    ['--frobnicate', "Unknown option '--frobnicate'.\nedgewise --help shows its usage."],
  ])('shows the mistake in %s like every other error', async (line, message) => {
    const { exitCode, stdout, stderr } = await runCommand(line.split(' '), { cwd: '/' });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toMatch(/^edgewise: /);
    expect(stderr).toContain(message);
  });

  it.each([
    ['plan . -out=plan', '--out=plan'],
    ['plan . -out plan', '--out'],
    ['plan . -output=plan', '--out=plan'],
    ['plan . -recurse', '--recursive'],
    ['plan . -o=plan', '-o plan'],
    ['plan . -oplan.json', '-o plan.json'],
    ['plan . -format=json', '--format=json'],
    ['plan . -Ro plans', '-R -o'],
    ['export -out=manifests', '--out=manifests'],
    ['show -verbose plan.json', '--verbose'],
    ['abuse-report submit -formt json', '--format'],
    ['-version', '--version'],
  ])('refuses %s with the correct spelling, %s, and writes nothing', async (line, spelling) => {
    const { edgewise, folder, recorder } = await createWorkspace({ 'stack.yaml': STACK });
    const { exitCode, stderr } = await edgewise(line);
    expect(exitCode).toBe(3);
    expect(stderr).toBe(
      `edgewise: ${line.split(' ').find((word) => /^-\w./.test(word))} is not an option.\nDid you mean ${spelling}?\n`,
    );
    expect(await readdir(folder)).toEqual(['stack.yaml']);
    expect(recorder.take()).toEqual([]);
  });

  it.each(['plan -- -out=plan', 'apply . --approved -x.json', 'plan . --target -out=plan'])(
    'accepts the word as a path or a value in %s',
    async (line) => {
      const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
      const { stderr, stdout } = await edgewise(line);
      expect(`${stdout}${stderr}`).not.toContain('is not an option');
    },
  );

  it('reports a single dash for a long option, in JSON', async () => {
    const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
    const { exitCode, stdout } = await edgewise('plan --format json -out=plan');
    expect({ exitCode, ...readOnlyStack(stdout) }).toMatchObject({
      exitCode: 3,
      ok: false,
      error: { message: '-out=plan is not an option.', remedy: 'Did you mean --out=plan?' },
    });
  });

  it.each(DOCUMENT_KINDS)('prints the schema of %s', async (kind) => {
    const { edgewise } = await createWorkspace();
    const { exitCode, stdout } = await edgewise(`schema ${kind}`);
    expect({ exitCode, schema: JSON.parse(stdout) }).toEqual({ exitCode: 0, schema: createManifestJsonSchema(kind) });
  });

  it('prints every published schema by its name', async () => {
    const { edgewise } = await createWorkspace();
    for (const { name, toSchema } of PUBLISHED_SCHEMAS) {
      const { exitCode, stdout } = await edgewise(`schema ${name}`);
      expect({ name, exitCode, schema: JSON.parse(stdout) }).toEqual({ name, exitCode: 0, schema: toSchema() });
    }
  });

  it('prints the error as JSON if JSON is requested', async () => {
    for (const line of [
      'plan --format json --frobnicate',
      'plan --frobnicate --format=json',
      'plan . --format json --rate-limit 0',
    ]) {
      const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
      const { exitCode, stdout } = await edgewise(line);
      expect(exitCode).toBe(3);
      expect(readOnlyStack(stdout)).toMatchObject({ ok: false, error: { message: expect.any(String) } });
    }
    const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
    const { stdout } = await edgewise('abuse-report get abrp_0 --format json');
    expect(JSON.parse(stdout)).toMatchObject({ command: 'abuse-report get', ok: false });
  });

  it('requires a base URL', async () => {
    const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
    expect(toTranscript(await edgewise('plan .', { env: { EDGEWISE_BASE_URL: '' } }))).toMatchInlineSnapshot(`
      "exit code 3
      --- stderr
      edgewise: No base URL of the service is set.
      Use --base-url URL, EDGEWISE_BASE_URL, or spec.api.base_url in the Stack. \`embedded:\` is the bundled server.
      "
    `);
  });

  it('lists the log levels', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'stack.yaml': STACK });
    for (const level of ['loud', 'toString']) {
      expect(await edgewise('plan .', { env: { EDGEWISE_LOG_LEVEL: level } })).toMatchObject({ exitCode: 3 });
    }
    expect(await edgewise('plan .', { env: { EDGEWISE_LOG_LEVEL: '' } })).toMatchObject({ exitCode: 0 });
    expect(recorder.take()).toHaveLength(OWNED_KINDS.length);
  });

  it('requires an API key', async () => {
    const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
    expect(toTranscript(await edgewise('plan .', { env: { EDGEWISE_API_KEY: '' } }))).toMatchInlineSnapshot(`
      "exit code 4
      --- stderr
      edgewise: There is no API key.
      Set EDGEWISE_API_KEY, or EDGEWISE_API_KEY_FILE to the path of a file that holds it.
      "
    `);
  });

  it('reads the API key from a file, without its line break', async () => {
    const { edgewise } = await createWorkspace({ 'stack.yaml': STACK, key: 'dev\n', empty: '\n' });
    expect(await edgewise('plan .', { env: { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'key' } })).toMatchObject({
      exitCode: 0,
    });
    expect(await edgewise('plan .', { env: { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'empty' } })).toMatchObject({
      exitCode: 4,
    });
    expect(await edgewise('plan .', { env: { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'missing' } })).toMatchObject(
      { exitCode: 4 },
    );
  });

  it('takes a setting from its flag, else the environment, else the Stack', async () => {
    const stack = `${STACK}spec:\n  api: { rate_limit: 1/1s }\n`;
    const { edgewise } = await createWorkspace({ 'stack.yaml': stack });
    const env = { EDGEWISE_RATE_LIMIT: '2/1s' };
    const read = async (line: string, more = {}) =>
      readOnlyStack((await edgewise(`${line} --format json`, more)).stdout).settings.rateLimit;
    expect(await read('plan .')).toBe('1/1s');
    expect(await read('plan .', { env })).toBe('2/1s');
    expect(await read('plan . --rate-limit 3/1s', { env })).toBe('3/1s');
  });

  it('exits with 70 after an unexpected error, which is a bug', async () => {
    const { edgewise } = await createWorkspace({ 'stack.yaml': `${STACK}${toEdge('a', 20001)}` });
    const onListen = () => {
      throw new RangeError('boom');
    };
    const { exitCode, stderr } = await edgewise('apply --yes', { onListen });
    expect(exitCode).toBe(70);
    expect(stderr).toContain('This is a bug in edgewise.');
  });

  it('prints one JSON document if a bug ends an apply after its first write', async () => {
    const { edgewise } = await createWorkspace({ 'stack.yaml': `${STACK}${toEdge('a', 20001)}` });
    let isThrown = false;
    const onWrite = (text: string) => {
      if (isThrown || !text.includes('create TCPEdge/a')) return;
      isThrown = true;
      throw new TypeError('boom');
    };
    const { exitCode, stdout } = await edgewise('apply --yes --format json', { onWrite });
    expect({ isThrown, exitCode }).toEqual({ isThrown: true, exitCode: 70 });
    expect(readOnlyStack(stdout)).toMatchObject({
      command: 'apply',
      stack: 'test',
      ok: false,
      error: { message: 'boom' },
    });
  });

  it('exits with 4 for an unusable key, and does not retry', async () => {
    const { edgewise } = await createWorkspace({ 'stack.yaml': `${STACK}${toEdge('a', 20001)}` });
    const result = await edgewise('plan .', { env: { EDGEWISE_API_KEY: 'wrong-key-1234' } });
    expect(result.exitCode).toBe(4);
    expect(toTranscript(result)).not.toContain('wrong-key-1234');
  });
});
