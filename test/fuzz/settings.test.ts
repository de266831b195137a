import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toTransport } from '../../src/model/transport.ts';
import { openTransport } from '../../src/stack/open-transport.ts';
import { findClosedPort } from '../client/raw-server.ts';
import { holds } from '../laws/properties.ts';
import { LONG } from '../tries.ts';
import {
  API_KEY,
  applyEverything,
  createEverything,
  createFolder,
  openServer,
  readExample,
  runWithInput,
} from './fuzzing.ts';
import { anyBytes, anyText, mutatedJson, mutatedText } from './mutations.ts';

/** Flags whose value does not name a file to write. */
const FLAGS = [
  ...['--base-url', '--version-header', '--rate-limit', '--timeout'],
  ...['--ca-file', '--format', '--target', '--report'],
  ...['--allow-protected', '--allow-take-over', '--rotate', '--token-command', '--verbose', '--unknown'],
  ...['--env', '--secret', '--key-env', '--root'],
] as const;

const VARIABLES = [
  ...['EDGEWISE_BASE_URL', 'EDGEWISE_API_KEY_FILE', 'EDGEWISE_VERSION_HEADER'],
  ...['EDGEWISE_RATE_LIMIT', 'EDGEWISE_CA_FILE', 'EDGEWISE_TIMEOUT'],
  ...['EDGEWISE_LOG_LEVEL'],
  ...['EDGEWISE_ENV', 'EDGEWISE_SECRETS', 'EDGEWISE_KEY_ENV', 'EDGEWISE_ROOT', 'EDGEWISE_UNTRUSTED'],
  ...['HTTPS_PROXY', 'http_proxy', 'all_proxy', 'NO_PROXY', 'NO_COLOR', 'TMPDIR'],
] as const;

/** Values that are valid for some flag, and random ones. A path stays in the folder of the test. */
const value = fc
  .oneof(
    anyText,
    fc.webUrl(),
    fc.constantFrom('', '0', '1', '64', '120/60s', 'none', '10s', '1ms', 'manifests.yaml', 'authorities.pem', 'json'),
    fc.constantFrom('TCPEdge/postgres', 'embedded:', 'https://u:p@h.example', '["true"]', 'http://[::1', 'sarif=.'),
    fc.constantFrom('..', 'DEPLOY_*', '*', 'EDGEWISE_API_KEY_OTHER', 'true'),
  )
  .filter((text) => !text.startsWith('embedded:/') && !text.includes('='));

describe('settings', () => {
  it('are used as flags, or refused with the mistake', LONG, async () => {
    const { folder } = createEverything();
    const { seed } = await applyEverything();
    const flags = fc.array(fc.tuple(fc.constantFrom(...FLAGS), value), { minLength: 1, maxLength: 3 });
    const lines = fc.constantFrom(['plan'], ['drift'], ['apply', '--yes', '--token-directory', 'tokens']);
    const property = fc.asyncProperty(lines, flags, async (line, chosen) => {
      const argv = [...line, 'manifests.yaml', ...chosen.flat()];
      await runWithInput(argv, { folder, fed: argv, transport: openServer(seed).handle });
    });
    await holds(property, 200);
  });

  it('are used as environment variables, or refused with the mistake', LONG, async () => {
    const { folder } = createEverything();
    const { seed } = await applyEverything();
    const variables = fc.dictionary(fc.constantFrom(...VARIABLES), value, { minKeys: 1, maxKeys: 3 });
    const property = fc.asyncProperty(variables, async (env) => {
      const { handle } = openServer(seed);
      await runWithInput(['plan', 'manifests.yaml'], { folder, fed: env, env, transport: handle });
    });
    await holds(property, 150);
  });

  it('never show an API key', LONG, async () => {
    const { folder } = createEverything();
    const property = fc.asyncProperty(anyText, anyText, fc.boolean(), async (before, after, isFile) => {
      const key = `${before}${API_KEY}${after}`;
      writeFileSync(join(folder, 'key'), key);
      const env = isFile ? { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'key' } : { EDGEWISE_API_KEY: key };
      const { exitCode, stderr } = await runWithInput(['plan', 'manifests.yaml'], { folder, fed: key, env });
      expect([0, 1, 3, 4], stderr).toContain(exitCode);
    });
    await holds(property, 100);
  });

  it('are trusted as files of authorities, or refused with the mistake', LONG, async () => {
    const { folder } = createEverything();
    const origin = `https://127.0.0.1:${await findClosedPort()}`;
    const bytes = fc.oneof(anyBytes, mutatedText(readExample('authorities.pem')));
    const property = fc.asyncProperty(bytes, async (pem) => {
      const file = join(folder, 'authorities.pem');
      writeFileSync(file, pem);
      const timeouts = { connectTimeout: 1_000, headersTimeout: 1_000, bodyTimeout: 1_000, timeout: 1_000 };
      const authorities = readFileSync(file, 'utf8');
      const transport = openTransport({ settings: { concurrency: 1, ...timeouts }, authorities, proxy: {} });
      try {
        const argv = ['plan', 'manifests.yaml', '--base-url', origin];
        const { exitCode, stderr } = await runWithInput(argv, {
          folder,
          fed: pem,
          transport: toTransport(transport.send),
        });
        expect([1, 3], stderr).toContain(exitCode);
      } finally {
        await transport.close();
      }
    });
    await holds(property, 100);
  });

  it.each([
    [
      'faults',
      () => mutatedText(readFileSync('examples/faults/faults.yaml', 'utf8')),
      '--faults input --rate-limit 9/1s',
    ],
    ['a seed', (seed: string) => mutatedJson(JSON.parse(seed)).map(Buffer.from), '--seed input'],
    ['a seed', (seed: string) => mutatedText(seed), '--seed input --snapshot kept'],
    ['a snapshot', (seed: string) => mutatedJson(JSON.parse(seed)).map(Buffer.from), '--snapshot input'],
    ['faults', () => anyBytes, '--faults input'],
    ['a seed', () => anyBytes, '--seed input'],
  ] as const)(
    'of the bundled server are used as %s (%#), or refused with the mistake',
    LONG,
    async (_, toArbitrary, line) => {
      const folder = createFolder();
      const { seed } = await applyEverything();
      const property = fc.asyncProperty(toArbitrary(JSON.stringify(seed)), async (bytes) => {
        writeFileSync(join(folder, 'input'), bytes);
        const argv = ['serve', '--port', '0', ...line.split(' ')];
        const onListen = (interrupt: () => void) => void setImmediate(interrupt);
        const { exitCode, stderr } = await runWithInput(argv, {
          folder,
          fed: bytes,
          onListen,
          env: { EDGEWISE_LOG_LEVEL: 'silent' },
        });
        expect([0, 3], stderr).toContain(exitCode);
      });
      await holds(property, 60);
    },
  );

  it('are used as a snapshot inside of a command, or refused with the mistake', LONG, async () => {
    const { folder } = createEverything();
    const { seed } = await applyEverything();
    const property = fc.asyncProperty(mutatedJson(JSON.parse(JSON.stringify(seed))), async (snapshot) => {
      writeFileSync(join(folder, 'account.json'), snapshot);
      const argv = ['plan', 'manifests.yaml', '--base-url', 'embedded:account.json'];
      const { exitCode, stderr } = await runWithInput(argv, { folder, fed: snapshot });
      expect([0, 1, 3, 5], stderr).toContain(exitCode);
    });
    await holds(property, 100);
  });

  it('are used as a public key in a file, or refused with the mistake', LONG, async () => {
    const folder = createFolder();
    const [key = ''] = /ssh-ed25519 \S+ \S+/.exec(readExample('alice.yaml')) ?? [];
    const spec = `{ ssh_certificate_authority_id: sshca_2k9XLSFdoQiJcVAxRrTtCDgMNpw, public_key_file: key.pub, principals: [a] }`;
    const stack = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: keys }\n';
    const certificate = `apiVersion: edgewise/v1\nkind: SSHUserCertificate\nmetadata: { name: a }\nspec: ${spec}\n`;
    writeFileSync(join(folder, 'manifests.yaml'), `${stack}---\n${certificate}`);
    const property = fc.asyncProperty(fc.oneof(mutatedText(key), anyBytes), async (bytes) => {
      writeFileSync(join(folder, 'key.pub'), bytes);
      const { exitCode, stderr } = await runWithInput(['apply', 'manifests.yaml', '--yes'], { folder, fed: bytes });
      expect([0, 1, 3], stderr).toContain(exitCode);
    });
    await holds(property, 100);
  });
});
