import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runCommand } from '../cli/fake-context.ts';
import { type CodeBlock, listCodeBlocks } from '../docs/documents.ts';

/**
 * Each recipe that runs edgewise in a shell fails if edgewise fails, so that no job succeeds although nothing was done. Most other programs
 * succeed and do nothing, so that no recipe copies or removes a file; a few that only read are real. A program that gets `edgewise` as an
 * argument runs it.
 */

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-recipes-'));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(
    join(folder, 'bin/edgewise'),
    '#!/bin/sh\nprintf "%s\\n" "$1" >>"$CALLS"\n[ "$FAILING" != "$(/usr/bin/wc -l <"$CALLS")" ] || exit "$CODE"\n' +
      // What a loop over `get` waits for.
      `[ "$1" != get ] || echo '{"renews_at":"2027-01-28T18:16:46Z"}'\n`,
    { mode: 0o755 },
  );
  for (const name of ['cat', 'grep', 'mkdir', 'mktemp', 'sed', 'sort', 'tail', 'tr'])
    symlinkSync(
      execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
      join(folder, 'bin', name),
    );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PREAMBLE = `
command_not_found_handle() {
  # What is piped in is read, or its writer would fail.
  case " $* " in *" edgewise "*) edgewise "\${*##*edgewise }" ;; *) [ ! -p /dev/stdin ] || cat >/dev/null ;; esac
}
# A program that is missing is handled as above.
exec() { "$@"; exit; }
cd() { :; }
`;

interface Outcome {
  readonly status: number | null;
  /** The commands of edgewise that ran. */
  readonly calls: readonly string[];
  readonly output: string;
  /** The text in `GITHUB_OUTPUT`. */
  readonly written: string;
}

interface Failure {
  /** The number of the call of edgewise that fails, from 1. 0: none. */
  readonly failing: number;
  readonly code: number;
}

function runScript(script: string, { failing, code }: Failure, env: Readonly<Record<string, string>> = {}): Outcome {
  const calls = join(folder, 'calls');
  const work = join(folder, 'work');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, 'manifests'), { recursive: true });
  for (const name of ['variables', '.config/fish/completions']) mkdirSync(join(work, name), { recursive: true });
  writeFileSync(join(work, 'manifests/edge.yaml'), 'kind: TCPEdge\n');
  writeFileSync(join(work, 'variables/staging.env'), '');
  writeFileSync(calls, '');
  const result = spawnSync('/bin/bash', ['--norc', '-e', '-o', 'pipefail', '-c', `${PREAMBLE}${script}`], {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: join(folder, 'bin'),
      HOME: work,
      GITHUB_OUTPUT: join(work, 'output'),
      CALLS: calls,
      FAILING: String(failing),
      CODE: String(code),
      ...env,
    },
    encoding: 'utf8',
  });
  return {
    status: result.status,
    calls: readFileSync(calls, 'utf8').split('\n').filter(Boolean),
    output: `${result.stdout}${result.stderr}`,
    written: existsSync(join(work, 'output')) ? readFileSync(join(work, 'output'), 'utf8') : '',
  };
}

/** Lists the scripts of a pipeline in all values of a YAML document. */
function listScripts(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(listScripts);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key !== 'run' && key !== 'script' && key !== 'args') return listScripts(inner);
    const lines = [inner].flat().filter((one) => typeof one === 'string');
    // An argument of a container is a script if it runs edgewise with more than one word.
    const scripts = key === 'args' ? lines.filter((one) => /\bedgewise /.test(one)) : [lines.join('\n')];
    return [...scripts, ...listScripts(inner)];
  });
}

function listYamlRecipes({ place, text }: CodeBlock): readonly CodeBlock[] {
  return parseAllDocuments(text)
    .flatMap((document) => listScripts(document.toJS()))
    .map((script) => ({ place, text: script }));
}

const COMPONENT = 'examples/pipelines/gitlab/templates/edgewise.yml';
const FILES = globSync(['examples/**/*.{yml,yaml}', '.github/workflows/*.yml']).filter((file) => file !== COMPONENT);

/** A job of the component. A member of a list may refer to a list of another job. */
interface ComponentJob {
  readonly script?: readonly (string | readonly [job: string, member: 'script'])[];
  readonly before_script?: unknown;
}

/** The scripts of the component for GitLab that run edgewise, each after what all jobs run before it. */
function listComponentRecipes(): readonly CodeBlock[] {
  const { before, all } = readComponent();
  const toText = ({ script = [] }: ComponentJob): string =>
    script.map((one) => (typeof one === 'string' ? one : toText(all[one[0]] ?? {}))).join('\n');
  return Object.entries(all)
    .map(([name, job]) => ({ place: `${COMPONENT} ${name}`, text: toText(job) }))
    .filter(({ text }) => text.includes('edgewise_with_key'))
    .map(({ place, text }) => ({ place, text: `${before}\n${text}` }));
}

/** The jobs of the component with the defaults of its inputs, and what each runs before its script. */
function readComponent(): { readonly before: string; readonly all: Readonly<Record<string, ComponentJob>> } {
  const [header, jobs] = parseAllDocuments(readFileSync(COMPONENT, 'utf8'), { customTags: [REFERENCE] });
  const inputs: Readonly<Record<string, { readonly default?: unknown }>> = header?.toJS().spec.inputs;
  const fill = (text: string): string =>
    text.replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name) => String(inputs[name]?.default ?? 'https://api.test'));
  const all: Readonly<Record<string, ComponentJob>> = JSON.parse(fill(JSON.stringify(jobs?.toJS())));
  return { all, before: [all['.edgewise']?.before_script].flat().join('\n') };
}

const REFERENCE = { tag: '!reference', collection: 'seq' } as const;

/** Variables that GitLab sets in each job and the component uses. */
const GITLAB = {
  MANIFESTS: 'manifests',
  RECURSIVE: 'true',
  CI_COMMIT_BRANCH: 'main',
  CI_DEFAULT_BRANCH: 'main',
  CI_MERGE_REQUEST_IID: '7',
};
const RECIPES = [
  ...listCodeBlocks('sh'),
  ...listCodeBlocks('yaml').flatMap(listYamlRecipes),
  ...FILES.flatMap((file) => listYamlRecipes({ place: file, text: readFileSync(file, 'utf8') })),
].filter(({ text }) => /\bedgewise(?:_with_key)? /.test(text));

it('are found in each place', () => {
  expect(RECIPES.length).toBeGreaterThan(35);
});

/**
 * Whether the job must fail if this call fails: a call that only posts a comment may fail, and that of a server in the
 * background shows in the first request.
 */
function isNeeded(call: string): boolean {
  return !/^(?:post|serve)\b/.test(call);
}

function expectFailures(script: string, env: Readonly<Record<string, string>> = {}): void {
  const whole = runScript(script, { failing: 0, code: 0 }, env);
  expect(whole, whole.output).toMatchObject({ status: 0 });
  expect(whole.calls).not.toEqual([]);
  for (const [index, call] of whole.calls.entries()) {
    if (!isNeeded(call)) continue;
    const { status, output } = runScript(script, { failing: index + 1, code: 3 }, env);
    expect(status, `edgewise ${call}: ${output}`).toBe(3);
  }
}

describe('a recipe', () => {
  it.each(RECIPES.map(({ place, text }) => [place, text]))('of %s fails if edgewise fails: %s', (_, text) => {
    if (text.includes('edgewise_with_key'))
      expectFailures(`${readComponent().before}\n${text}`, { ...GITLAB, STACK: 'shop' });
    else expectFailures(text);
  });
});

describe('the component for GitLab', () => {
  it.each(listComponentRecipes().map(({ place, text }) => [place, text]))('%s fails if edgewise fails', (_, text) => {
    expectFailures(text, GITLAB);
    expectFailures(text, { ...GITLAB, RECURSIVE: 'false', CI_MERGE_REQUEST_IID: '' });
  });
});

describe('the action', () => {
  it.each(['plan', 'apply', 'drift'])('%s fails if edgewise fails, with its exit code', (name) => {
    const action = parse(readFileSync(join(ACTIONS, name, 'action.yml'), 'utf8'));
    for (const code of [1, 3, 6]) expect([code, runAction(name, action, code)]).toEqual([code, code]);
    expect(runAction(name, action, 0)).toBe(0);
  });
});

const ACTIONS = resolve('.github/actions');

interface Action {
  readonly runs: { readonly steps: readonly ActionStep[] };
}

interface ActionStep {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the steps of an action without a condition, until one fails. Returns the exit code of the last. */
function runAction(name: string, { runs }: Action, code: number): number | null {
  const outputs = new Map<string, string>();
  const fill = (text: string): string =>
    text.replace(/\$\{\{ (.*?) \}\}/g, (_, what: string) => outputs.get(what) ?? INPUTS[what] ?? '');
  for (const { id = '', run, env = {}, ...step } of runs.steps) {
    if (run === undefined || step.if !== undefined) continue;
    const { status, written } = runScript(
      run,
      { failing: 1, code },
      {
        ...Object.fromEntries(Object.entries(env).map(([variable, value]) => [variable, fill(value)])),
        PATH: `${join(folder, 'bin')}:${dirname(process.execPath)}`,
        GITHUB_ACTION_PATH: join(ACTIONS, name),
        GITHUB_STEP_SUMMARY: join(folder, 'summary'),
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_WORKFLOW_REF: 'o/r/.github/workflows/apply.yml@refs/heads/main',
        // No other run.
        GITHUB_API_URL: 'data:application/json,{"workflow_runs":[]}#',
        RUNNER_TEMP: folder,
      },
    );
    if (status !== 0) return status;
    for (const [, output, value = ''] of written.matchAll(/^([\w-]+)=(.*)$/gm))
      outputs.set(`steps.${id}.outputs.${output}`, value);
  }
  return 0;
}

/** Inputs of the actions from a workflow. */
const INPUTS: Readonly<Record<string, string>> = {
  'inputs.base-url': 'https://api.test',
  'inputs.manifests': 'manifests',
  'inputs.recursive': 'false',
};

describe('an example in the help', () => {
  it('fails if edgewise fails', async () => {
    const overview = (await runCommand(['--help'], { cwd: '/' })).stdout;
    const names = Array.from(overview.matchAll(/^ {2}([a-z][a-z-]+) /gm), ([, name = '']) => name);
    const helps = await Promise.all(names.map((name) => runCommand([name, '--help'], { cwd: '/' })));
    const examples = helps.flatMap(({ stdout }) =>
      Array.from(
        (stdout.split('Examples:')[1] ?? '').matchAll(/^ {2}\$ (\S.*?)(?: {2,}.*)?$/gm),
        ([, line = '']) => line,
      ),
    );
    // An interactive shell ignores failures in its start file.
    const lines = examples.filter((line) => !line.startsWith('source <(edgewise completion'));
    expect(lines.length).toBeGreaterThan(30);
    for (const line of lines) expectFailures(`${line}\necho "after: $?"`);
  });
});
