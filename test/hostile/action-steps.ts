import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { parse } from 'yaml';
import { z } from 'zod';
import { COMPILED } from '../compiled.ts';

/** Inputs of a workflow for an action, and its folders. */
export interface ActionCall {
  /** The name of its folder in `.github/actions`. */
  readonly action: string;
  /** The program behind the command `edgewise`. */
  readonly program: string;
  /** The checkout, which is the working folder. */
  readonly checkout: string;
  /** The folder of the runner, outside of the checkout: its files, and artifacts. */
  readonly runner: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly event: string;
  /** Absent: the ref that GitHub sets for the event. */
  readonly ref?: string;
  /** Variables of the job. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A step that has run. */
export interface RanStep {
  readonly env: Readonly<Record<string, string>>;
  /** Both streams, as the runner reads them. */
  readonly log: string;
  readonly exitCode: number;
}

/** The result of an action. */
export interface RanAction {
  readonly exitCode: number;
  readonly steps: readonly RanStep[];
  readonly log: string;
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
}

const step = z.strictObject({
  id: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.coerce.string()).optional(),
  shell: z.literal('bash').optional(),
  env: z.record(z.string(), z.string()).optional(),
  run: z.string().optional(),
});
const actionFile = z.object({
  inputs: z.record(z.string(), z.object({ default: z.string().optional() })),
  outputs: z.record(z.string(), z.object({ value: z.string() })).default({}),
  runs: z.object({ steps: z.array(step) }),
});
type Step = z.infer<typeof step>;

const DEFAULT_BRANCH = 'main';
const TOKEN_OF_THE_FORGE = 'ghs_token-of-the-workflow';

/** Runs the steps of an action from its file, as the runner of GitHub does. Artifacts are folders of the runner. */
export async function runAction(call: ActionCall): Promise<RanAction> {
  const folder = resolve('.github/actions', call.action);
  const { inputs, outputs, runs } = actionFile.parse(parse(await readFile(join(folder, 'action.yml'), 'utf8')));
  const temp = await mkdtemp(join(call.runner, 'temp-'));
  const summary = join(temp, 'summary');
  await writeFile(summary, '');
  const results: Record<string, { outputs: Record<string, string> }> = {};
  const context = (): Context => ({
    inputs: { ...given, ...call.inputs },
    github: toGithub(call.event),
    runner: { temp },
    env: call.env ?? {},
    steps: results,
  });
  const given: Record<string, string> = {};
  for (const [name, input] of Object.entries(inputs)) given[name] = fillIn(input.default ?? '', context());
  const steps: RanStep[] = [];
  for (const one of runs.steps) {
    if (one.if !== undefined && evaluate(one.if, context()) !== 'true') continue;
    if (one.uses !== undefined) {
      await moveArtifact(one, context(), call.runner);
      continue;
    }
    const output = join(temp, `output-${steps.length}`);
    await writeFile(output, '');
    const files = {
      GITHUB_OUTPUT: output,
      GITHUB_PATH: join(temp, 'path'),
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_ACTION_PATH: folder,
      RUNNER_TEMP: temp,
    };
    const ran = await runStep(one, call, { context: context(), files });
    steps.push(ran);
    if (one.id !== undefined) results[one.id] = { outputs: parseOutputs(await readFile(output, 'utf8')) };
    if (ran.exitCode !== 0) break;
  }
  return {
    exitCode: steps.at(-1)?.exitCode ?? 0,
    steps,
    log: steps.map(({ log }) => log).join(''),
    summary: await readFile(summary, 'utf8'),
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, fillIn(value, context())])),
  };
}

type Context = Readonly<Record<string, object>>;

function toGithub(event: string): object {
  const isOfPull = event.startsWith('pull_request');
  return {
    event_name: event,
    token: TOKEN_OF_THE_FORGE,
    event: {
      repository: { default_branch: DEFAULT_BRANCH },
      ...(isOfPull && { pull_request: { head: { sha: 'abc' }, number: 7 } }),
    },
  };
}

async function runStep(
  one: Step,
  { program, checkout, event, ref, env: job = {} }: ActionCall,
  { context, files }: { readonly context: Context; readonly files: Readonly<Record<string, string>> },
): Promise<RanStep> {
  // An expression in a script would be expanded into code: no script of ours has one.
  if (one.run?.includes('${{')) throw new Error(`a script has an expression: ${one.run}`);
  const own = Object.entries(one.env ?? {}).map(([name, value]) => [name, fillIn(value, context)] as const);
  const env = { ...job, ...Object.fromEntries(own), ...toVariables(event, ref), ...files };
  const script = join(String(files['RUNNER_TEMP']), 'step.sh');
  await writeFile(script, one.run ?? '');
  const PATH = [
    await installCommand(String(files['RUNNER_TEMP']), program),
    dirname(process.execPath),
    process.env['PATH'],
  ].join(delimiter);
  const child = spawn('bash', ['-c', 'exec bash --noprofile --norc -eo pipefail "$0" 2>&1', script], {
    cwd: checkout,
    env: { ...COMPILED, ...env, PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  const exitCode = await new Promise<number>((done) => child.on('close', (code) => done(code ?? 1)));
  return { env, log: Buffer.concat(parts).toString('utf8'), exitCode };
}

/**
 * Variables of an event. The branch of a pull request is its own; for every other event, also pull_request_target, GitHub sets the default
 * branch.
 */
function toVariables(event: string, given?: string): Readonly<Record<string, string>> {
  const ref = given ?? (event === 'pull_request' ? 'refs/pull/7/merge' : `refs/heads/${DEFAULT_BRANCH}`);
  return {
    GITHUB_EVENT_NAME: event,
    GITHUB_REF: ref,
    GITHUB_REF_NAME: ref.replace(/^refs\/(?:heads|pull)\//, ''),
    GITHUB_RUN_NUMBER: '5',
    GITHUB_WORKFLOW_REF: 'o/r/.github/workflows/edgewise.yml@refs/heads/main',
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: 'abc',
    GITHUB_REPOSITORY: 'o/r',
  };
}

/** Installs the command line into a folder, as `npm install --global` does. */
async function installCommand(work: string, program: string): Promise<string> {
  const bin = join(work, 'bin');
  await mkdir(bin, { recursive: true });
  const start = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  await writeFile(join(bin, 'edgewise'), start, { mode: 0o755 });
  return bin;
}

/** Does the same as upload-artifact and download-artifact. */
async function moveArtifact(one: Step, context: Context, runner: string): Promise<void> {
  if (!/^actions\/(up|down)load-artifact@/.test(one.uses ?? '')) return;
  const { name = '', path = '' } = Object.fromEntries(
    Object.entries(one.with ?? {}).map(([key, value]) => [key, fillIn(value, context)]),
  );
  const kept = join(runner, 'artifacts', name);
  const [from, to] = one.uses?.includes('/upload-artifact@') ? [path, kept] : [kept, path];
  await cp(from, to, { recursive: true, dereference: true });
}

/** Parses outputs as the runner does: `name=value`, or `name<<delimiter`, lines, and the delimiter. */
function parseOutputs(text: string): Record<string, string> {
  if (text.includes('<<')) throw new Error(`an output has several lines: ${text}`);
  const lines = text.split('\n').filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]));
}

function fillIn(text: string, context: Context): string {
  return text.replace(/\$\{\{(.*?)\}\}/g, (_, expression: string) => evaluate(expression.trim(), context));
}

function evaluate(expression: string, context: Context): string {
  const { tokens } = new Lexer(expression).lex();
  const tree = new Parser(tokens, Object.keys(context), []).parse();
  const known = JSON.parse(JSON.stringify(context), data.reviver);
  return new Evaluator(tree, known).evaluate().coerceString();
}

const workflowSteps = z.object({ steps: z.array(step.pick({ uses: true, run: true, with: true })) });

/** Reads the steps in the first block below a heading of a page. */
export async function readWorkflowSteps(
  page: string,
  heading: string,
): Promise<z.infer<typeof workflowSteps>['steps']> {
  const [, section = ''] = (await readFile(page, 'utf8')).split(heading);
  const [block = ''] = /(?<=```yaml\n)[\s\S]*?(?=```)/.exec(section) ?? [];
  return workflowSteps.parse(parse(block)).steps;
}
