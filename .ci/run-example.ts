import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseExample } from '../src/explain/code-section.ts';
import type { Transport } from '../src/model/transport.ts';
import { createServer, parseApiKey, parseServerFaults, parseServerSeed, withFaults } from '../src/server/index.ts';
import { BASE_URL, NOW, runCommand } from '../test/cli/fake-context.ts';
import { EXTERNAL_IDS } from '../test/external-ids.ts';

/** The page of diagnostics. Each section has an example with its own files and its own service. */
export const EXAMPLES_PAGE = 'docs/diagnostics.md';

/** A command with its own folder of files and its own service. */
export interface RunnableExample {
  /** The command line without the name of the program. */
  readonly command: string;
  /** Maps the names of files to their content. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** A seed file: the resources of the account. */
  readonly live: string | undefined;
  readonly faults: string | undefined;
  /** Whether the folder is a new git repository. */
  readonly isInGit: boolean;
  /** The files of a later commit of the branch main, which a pull request lacks. */
  readonly later: readonly string[];
  /** A request of another user, sent right before the first request of edgewise with the same method and path. */
  readonly concurrent: { readonly line: string; readonly body: string } | undefined;
  /**
   * Command lines that run before, in the same folder and at the same service: of git, or without the name of the program.
   * A write may fail.
   */
  readonly earlier?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** The clock of the machine. Absent: that of the service. */
  readonly now?: Date;
  /** What stands before the service, or changes it. */
  readonly atService?: (handle: Transport) => Transport;
}

export interface ExampleResult {
  readonly exitCode: number;
  /** Both outputs, as a terminal shows them. */
  readonly output: string;
}

const API_KEY = 'dev';

/** The token of a pipeline. An example can contain it where it is not allowed. */
const TOKEN = 'ghs_not-a-real-token';

/** Reads an example of docs/diagnostics.md. The line of text above a code block describes it. */
export function readExample(example: string): RunnableExample {
  const blocks = parseExample(example);
  const codes = blocks.flatMap(({ text, language }, index) =>
    language === undefined ? [] : [{ text, language, title: blocks[index - 1]?.text ?? '' }],
  );
  const session = codes.find(({ language }) => language === 'console')?.text ?? '';
  const named = codes.flatMap(({ text, title }) => {
    const [, name, encoding] =
      /^(?:In a git repository, |In a later commit of main, )?`([\w./-]+)`(.*):$/.exec(title) ?? [];
    return name === undefined
      ? []
      : [{ name, text, encoding: encoding === ', in ISO-8859-1' ? 'latin1' : 'utf8' } as const];
  });
  const other = codes.find(({ title }) => title.startsWith('Another user'));
  return {
    command: /^\$ edgewise (.*)$/m.exec(session)?.[1] ?? '',
    files: new Map(
      named
        .filter(({ name }) => name !== LIVE && name !== FAULTS)
        .map(({ name, text, encoding }) => [name, Buffer.from(text, encoding)]),
    ),
    live: named.find(({ name }) => name === LIVE)?.text,
    faults: named.find(({ name }) => name === FAULTS)?.text,
    isInGit: codes.some(({ title }) => title.startsWith('In a git repository')),
    later: codes.flatMap(({ title }) => /^In a later commit of main, `([\w./-]+)`/.exec(title)?.[1] ?? []),
    concurrent: other && { line: /`(.*?)`/.exec(other.title)?.[1] ?? '', body: other.text },
  };
}

/** Commits these files to main only, and the others before. Then checks out a branch that has the others. */
function leaveOutLaterCommit(later: readonly string[], cwd: string): void {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd });
  const commit = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '--quiet', '--message', 'more'];
  git('checkout', '--quiet', '-b', 'main');
  git('rm', '--quiet', '--cached', '--', ...later);
  git(...commit);
  git('branch', 'feature');
  git('add', '--', ...later);
  git(...commit);
  git('checkout', '--quiet', 'feature');
}

const LIVE = 'live.json';
const FAULTS = 'faults.yaml';

/** Lists the examples of a section of the page. Each ends with a command and its output. */
export function listExamples(section: string): readonly string[] {
  return Array.from(section.matchAll(/[\s\S]*?^```console\n[\s\S]*?^```$/gm), ([example]) => example);
}

/** Returns the document with the current output of each example. */
export async function refreshExamples(document: string): Promise<string> {
  const sections = document.split(/^(?=### )/m).map(async (section) => {
    if (!section.startsWith('### ')) return section;
    const examples = listExamples(section);
    const rest = section.slice(examples.join('').length);
    return [...(await Promise.all(examples.map(refreshExample))), rest].join('');
  });
  return (await Promise.all(sections)).join('');
}

async function refreshExample(example: string): Promise<string> {
  const { output } = await runExample(readExample(example));
  return example.replace(/(?<=^```console\n\$ .*\n)[\s\S]*?(?=^```$)/m, () => `${output.trimEnd()}\n`);
}

/** Runs an example as a user would: its command line, in a folder with its files, with the bundled server. */
export async function runExample({
  command,
  files,
  live,
  faults,
  isInGit,
  later,
  concurrent,
  earlier = [],
  env = {},
  now = NOW,
  atService = (transport) => transport,
}: RunnableExample): Promise<ExampleResult> {
  const cwd = mkdtempSync(join(tmpdir(), 'edgewise-example-'));
  try {
    for (const [name, content] of files) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), content);
    }
    if (isInGit)
      for (const args of [
        ['init', '--quiet'],
        ['add', '--all'],
      ])
        execFileSync('git', args, { cwd });
    if (later.length > 0) leaveOutLaterCommit(later, cwd);
    const server = createServer({
      now: () => NOW,
      idSeed: 'example',
      apiKeys: [parseApiKey(`${API_KEY}:admin`)],
      seed: { externals: EXTERNAL_IDS, ...(live !== undefined && parseServerSeed(live)) },
    });
    const { handle } = faults === undefined ? server : withFaults(server, parseServerFaults(faults));
    const transport = atService(concurrent === undefined ? handle : withConcurrentRequest(handle, concurrent));
    let output = '';
    const onWrite = (text: string): void => {
      output += text;
    };
    const options = {
      cwd,
      transport,
      now: () => now,
      env: {
        ...{ GITHUB_TOKEN: TOKEN, PATH: process.env['PATH'] ?? '' },
        ...(later.length > 0 && { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' }),
        ...env,
      },
    };
    for (const line of earlier) {
      const [program = '', ...args] = line.split(' ');
      if (program === 'git') execFileSync('git', args, { cwd, stdio: 'ignore' });
      else if ((await runCommand([program, ...args], options)).exitCode > 1) throw new Error(`refused: ${line}`);
    }
    const { exitCode } = await runCommand(command.split(' '), { ...options, onWrite });
    return { exitCode, output };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** A transport that sends the request of another user right before the first one with the same method and path. */
function withConcurrentRequest(handle: Transport, { line, body }: { line: string; body: string }): Transport {
  let isSent = false;
  return async (request) => {
    if (!isSent && line === `${request.method} ${new URL(request.url).pathname}`) {
      isSent = true;
      const [method = '', path = ''] = line.split(' ');
      const headers = {
        authorization: `Bearer ${API_KEY}`,
        'service-version': '2',
        'content-type': 'application/json',
      };
      const response = await handle(new Request(`${BASE_URL}${path}`, { method, headers, body }));
      if (response.status >= 300)
        throw new Error(`${line} has the response ${response.status}: ${await response.text()}`);
    }
    return handle(request);
  };
}
