import { readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../src/model/json.ts';
import { type CommandResult, runCommand } from '../cli/fake-context.ts';
import { createOmittingService, type Fault, withFaults } from './faults.ts';
import { createService, type Service } from './service.ts';
import { readSetup, type Setup, type Step, toSubjects } from './setup.ts';
import { RequestLog, type SentRequest } from './wire.ts';

/**
 * A scenario is a folder with a claim as its name. `manifest.yaml` is the desired state, `live.yaml` says how the live state was created, and
 * `actions.txt` and `requests.txt` have the effects of plan and apply. A few have their full texts: `plan.txt` and `apply.txt`. Everything runs
 * on a bundled server with a fixed clock and seeded ids. Requests are sent one at a time, so their order is always the same.
 */
export interface Scenario {
  readonly name: string;
  readonly folder: string;
}

/** One command with its result and its requests. */
export interface CommandRun extends CommandResult {
  readonly line: string;
  readonly requests: readonly SentRequest[];
}

/** Every resource of the service, by kind. */
export type ServiceState = ReadonlyMap<string, readonly JsonObject[]>;

/** The result of a scenario. */
export interface ScenarioResult {
  readonly setup: Setup;
  readonly plan: CommandRun;
  /** The plan as Markdown, if `live.yaml` asks for it. */
  readonly markdown: CommandRun | undefined;
  readonly apply: CommandRun;
  /** The second apply, if `live.yaml` asks for one. */
  readonly again: CommandRun | undefined;
  /** A plan at the end. */
  readonly finalPlan: CommandRun;
  /** The state of the service before the plan, before the apply, and at the end. */
  readonly holdings: {
    readonly beforePlan: ServiceState;
    readonly beforeApply: ServiceState;
    readonly end: ServiceState;
  };
  /** Every file that the run wrote to its folder: plans and tokens. */
  readonly files: ReadonlyMap<string, string>;
}

const ROOT = new URL('.', import.meta.url).pathname;

/** Every scenario, by name. */
export function listScenarios(): readonly Scenario[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, folder: join(ROOT, name) }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/**
 * How the stack of a scenario is given to commands: `files`, as in the scenario; `folder`, a folder with the same files; `recursive`, as the
 * only stack of a run with `--recursive`.
 */
export type Form = 'files' | 'folder' | 'recursive';

/** Runs a scenario from its first live state to the plan at the end. */
export async function runScenario({ folder }: Scenario, form: Form = 'files'): Promise<ScenarioResult> {
  const setup = await readSetup(folder);
  const cwd = await mkdtemp(join(tmpdir(), 'edgewise-scenario-'));
  try {
    const names = await readdir(folder);
    // Copies, because manifests may not name a link that leads out of the folder.
    const copy = (from: string, name: string) => cp(join(from, name), join(cwd, name), { recursive: true });
    const shared = names.includes('stack.yaml') ? [] : [copy(ROOT, 'stack.yaml')];
    await Promise.all([...names.map((name) => copy(folder, name)), ...shared]);
    if (form !== 'files') await moveStackToFolder(setup, cwd);
    return await runSetup(setup, { cwd, form, given: new Set([...names, 'stack.yaml']) });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Moves the planned files of a scenario into their own folder, with a copy of every file that is not a manifest. */
async function moveStackToFolder(setup: Setup, cwd: string): Promise<void> {
  const { paths } = toSubjects(setup, cwd);
  const others = (await readdir(cwd)).filter((name) => !/[.]ya?ml$/.test(name) && !paths.includes(name));
  await mkdir(join(cwd, ONE));
  for (const name of paths) await rename(join(cwd, name), join(cwd, ONE, name));
  for (const name of others) await cp(join(cwd, name), join(cwd, ONE, name), { recursive: true });
}

/** The folder of the only stack. */
const ONE = 'one';

/** Adapts the words of a step to a form. A folder of plans approves in a run over the stacks below a folder. */
function toForm(form: Form, words: readonly string[]): readonly string[] {
  if (form === 'files') return words;
  if (form === 'recursive' && words.includes('plan.json')) {
    const isPath = (word: string): boolean => /^(?:stack|manifest)[.]yaml$/.test(word);
    const rest = words.filter((word, index) => index > 0 && !isPath(word));
    return ['apply', '-R', ONE, ...rest.map((word) => (word === 'plan.json' ? 'plans' : word))];
  }
  return words.map((word) => word.replace(/^(?:stack|manifest)[.]yaml$/, `${ONE}/$&`));
}

interface Place {
  readonly cwd: string;
  readonly form: Form;
  /** Names of the files in the scenario's folder. */
  readonly given: ReadonlySet<string>;
}

async function runSetup(setup: Setup, { cwd, form, given }: Place): Promise<ScenarioResult> {
  const stage = new ScenarioRunner(setup, cwd, form);
  await stage.take(setup.steps);
  const beforePlan = stage.service.listResources();
  const plan = await stage.plan(setup.faults);
  const markdown = setup.markdown ? await stage.plan(setup.faults, ['--format', 'markdown']) : undefined;
  await stage.take(setup.between);
  const beforeApply = stage.service.listResources();
  const saved = form === 'recursive' ? 'plans' : 'plan.json';
  const apply = await stage.apply(setup.between === undefined ? undefined : saved, setup.faults);
  stage.service.wait(60);
  const again = setup.again ? await stage.apply() : undefined;
  const finalPlan = await stage.plan();
  const holdings = { beforePlan, beforeApply, end: stage.service.listResources() };
  return { setup, plan, markdown, apply, again, finalPlan, holdings, files: await readFiles(cwd, given) };
}

/** Runs the commands of a scenario: with a service, a folder, and the answers of a user. */
class ScenarioRunner {
  readonly service: Service;
  readonly #setup: Setup;
  readonly #cwd: string;
  readonly #form: Form;
  readonly #wire = new RequestLog();

  constructor(setup: Setup, cwd: string, form: Form) {
    this.#form = form;
    this.service = createService(setup);
    this.#setup = setup;
    this.#cwd = cwd;
  }

  /** Saves the plan that will be applied. A destroy shows its plan and is declined. */
  async plan(faults: readonly Fault[] = [], more: readonly string[] = []): Promise<CommandRun> {
    const { command = 'plan', words = [], plan = [], between } = this.#setup;
    const saved = between === undefined ? [] : ['-o', this.#form === 'recursive' ? 'plans' : 'plan.json'];
    const line = [command, ...this.#paths(), ...words, ...saved, ...plan, ...more];
    return this.#edgewise(line, { faults, ...(command === 'destroy' && { answers: ['no'] }) });
  }

  /** Applies manifests, also as a plan file approves. The apply with faults is the one that the scenario tests. */
  async apply(planFile?: string, faults?: readonly Fault[]): Promise<CommandRun> {
    const { command = 'apply', words = [], apply = [], answers } = this.#setup;
    const more = planFile === undefined ? words : ['--approved', planFile];
    const consent = answers === undefined ? ['--yes'] : [];
    const line = [command, ...this.#paths(), ...more, ...consent, ...apply];
    return this.#edgewise(line, { faults: faults ?? [], ...(answers !== undefined && { answers }) });
  }

  async take(steps: readonly Step[] = []): Promise<void> {
    for (const step of steps) {
      this.service.wait(60);
      await this.#take(step);
    }
    this.service.wait(60);
  }

  #paths(): readonly string[] {
    if (this.#form === 'folder') return [ONE];
    if (this.#form === 'recursive') return ['-R', ONE, '--stack', 'shop'];
    const { paths, isTree } = toSubjects(this.#setup, this.#cwd);
    return isTree ? ['-R', ...paths] : paths;
  }

  async #take(step: Step): Promise<void> {
    if ('request' in step) return this.service.call(step.request, step.body);
    if ('wait' in step) return this.service.wait(step.wait);
    const { line: words, exits, faults } = 'apply' in step ? toEarlierApply(step.apply) : toCommand(step);
    const line = toForm(this.#form, words);
    const { exitCode, stdout, stderr } = await this.#edgewise(line, { faults });
    if (exitCode !== exits) throw new Error(`${line.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`);
  }

  async #edgewise(
    argv: readonly string[],
    { faults, answers }: { readonly faults: readonly Fault[]; readonly answers?: readonly string[] },
  ): Promise<CommandRun> {
    const { service } = this;
    let interrupt = () => {};
    const usual = this.#setup.leavesOut ? createOmittingService(service.transport) : service.transport;
    const faulty = withFaults(usual, faults, () => interrupt());
    const env = { EDGEWISE_API_KEY: service.key, ...this.#setup.env };
    const result = await runCommand(argv, {
      cwd: this.#cwd,
      transport: this.#wire.watch(faulty),
      env,
      now: service.now,
      ...(answers !== undefined && { answers }),
      onListen: (listener) => {
        interrupt = listener;
      },
    });
    return { ...result, line: ['edgewise', ...argv].join(' '), requests: this.#wire.take() };
  }
}

interface Command {
  readonly line: readonly string[];
  readonly exits: number;
  readonly faults: readonly Fault[];
}

function toEarlierApply(file: string): Command {
  return { line: ['apply', 'stack.yaml', file, '--yes', '--allow-deletes'], exits: 0, faults: [] };
}

function toCommand({ edgewise, exits = 0, faults = [] }: Extract<Step, { readonly edgewise: string }>): Command {
  return { line: edgewise.split(' '), exits, faults };
}

async function readFiles(cwd: string, given: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(cwd, { recursive: true, withFileTypes: true });
  const made = entries.filter((entry) => entry.isFile() && !given.has(entry.name));
  const texts = made.map(
    async ({ name, parentPath }) => [name, await readFile(join(parentPath, name), 'utf8')] as const,
  );
  return new Map(await Promise.all(texts));
}
