import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEdgewise, startServerProcess } from './processes.ts';

const API_KEY = 'Zq8-end-to-end-key-3fK1';
const WRONG_KEY = 'Xw5-end-to-end-wrong-9dR7';

/** A sink that fails only when it gets a token, and prints the token. */
const LEAKY_COMMAND = JSON.stringify(['sh', '-c', 'read token; echo "no $token"; echo "no $token" >&2; exit 1']);

type Run = readonly [exitCode: number, args: string, key?: string];

/** Every command for a whole account, in both formats. */
function listRuns(folder: string): readonly Run[] {
  const plan = join(folder, 'plan.json');
  const manifests = 'examples/everything';
  const write = `${manifests} --yes --token-directory ${folder}/tokens`;
  return [
    [0, `validate ${manifests}`],
    [0, `validate ${manifests} --format json`],
    [4, `plan ${manifests}`, WRONG_KEY],
    [4, `apply ${write} --format json`, WRONG_KEY],
    [0, `plan ${manifests} --verbose --token-directory ${folder}/tokens/saved -o ${plan}`],
    [0, `plan ${manifests} --format json`],
    [0, `show ${plan} --verbose`],
    [0, `show ${plan} --format json`],
    [0, `apply ${manifests} --approved ${plan} --yes --token-directory ${folder}/tokens/saved --verbose`],
    [0, `plan ${manifests} --verbose --detailed-exitcode`],
    [0, `plan ${manifests} --format json -o ${folder}/nothing.json`],
    [0, `apply ${write} --format json`],
    [0, `get ${manifests} --verbose`],
    [0, `get ${manifests} --format json`],
    [0, `get ${manifests} --format yaml`],
    [0, `get ${manifests} Credential --format value=acl`],
    [3, `get ${manifests} Credential --format value=token`],
    [0, `plan ${manifests} --verbose --rotate Credential/build-agent -o ${folder}/rotation.json`],
    [0, `apply ${write}/rotated --rotate Credential/build-agent`],
    [0, `destroy ${manifests} --yes --verbose`],
    [0, `apply ${write}/json --format json`],
    [0, `destroy ${manifests} --yes --format json`],
    [1, `apply ${manifests} --yes --token-command LEAKY`],
    [2, `plan ${manifests} --verbose --detailed-exitcode -o ${folder}/undelivered.json`],
    [1, `apply ${manifests} --yes --token-command LEAKY --format json`],
    [0, `destroy ${manifests} --yes`],
  ];
}

describe('a whole account, from nothing to nothing', () => {
  let folder: string;
  /** All output and files where no secret is allowed, by place. */
  const produced = new Map<string, string>();
  const tokens: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-secrets-'));
    for (const name of ['tokens', 'rescued', 'written']) mkdirSync(join(folder, name));
    const written = join(folder, 'written');
    const log = openSync(join(written, 'server.log'), 'w');
    const env = { PATH: process.env['PATH'], TMPDIR: join(folder, 'rescued'), EDGEWISE_LOG_LEVEL: 'trace' };
    const keys = ['--api-key', `${API_KEY}:admin`, '--snapshot', join(written, 'account.json')];
    const server = await startServerProcess(keys, { log, env });
    try {
      for (const run of listRuns(folder)) await perform(run, { ...env, EDGEWISE_BASE_URL: server.url });
    } finally {
      expect(await server.stop()).toBe(0);
      closeSync(log);
    }
    for (const file of listFiles(folder)) {
      const text = readFileSync(file, 'utf8');
      if (file.endsWith('.token')) tokens.push(text.trim());
      else produced.set(file, text);
    }
  }, 240_000);

  async function perform([expected, line, key = API_KEY]: Run, env: NodeJS.ProcessEnv): Promise<void> {
    const args = line.split(' ').map((word) => (word === 'LEAKY' ? LEAKY_COMMAND : word));
    const { exitCode, stdout, stderr } = await runEdgewise(args, { ...env, EDGEWISE_API_KEY: key });
    expect(exitCode, `${line} printed:\n${stdout}${stderr}`).toBe(expected);
    produced.set(`${line}, stdout`, stdout).set(`${line}, stderr`, stderr);
  }

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('issues, delivers and rescues tokens, and keeps all output', () => {
    expect(tokens.length).toBeGreaterThanOrEqual(5);
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(listFiles(join(folder, 'rescued')).length).toBeGreaterThanOrEqual(2);
    const files = listFiles(folder).filter((file) => !file.endsWith('.token'));
    expect(files.map((file) => file.slice(folder.length + 1)).sort()).toEqual([
      'nothing.json',
      'plan.json',
      'rotation.json',
      'undelivered.json',
      'written/account.json',
      'written/server.log',
    ]);
    for (const token of tokens) expect(listPlaces(token.split('_')[0] ?? token), 'its public half').not.toEqual([]);
  });

  it('shows no token outside of its sink', () => {
    for (const token of tokens) {
      const [, secret = token] = token.split('_');
      for (const form of [...listForms(token), ...listForms(secret)]) expect(listPlaces(form)).toEqual([]);
    }
  });

  it('shows no API key, known or not', () => {
    for (const key of [API_KEY, WRONG_KEY]) for (const form of listForms(key)) expect(listPlaces(form)).toEqual([]);
  });

  function listPlaces(text: string): readonly string[] {
    return [...produced].filter(([, content]) => content.includes(text)).map(([place]) => place);
  }
});

/** The forms in which a secret can appear. */
function listForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

function listFiles(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
