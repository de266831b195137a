import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';
import type { ServerSeed } from '../../src/server/index.ts';
import type { Fault } from './faults.ts';

/** The content of `live.yaml`: how the live state was created, and options of the run. All members are optional. */
export interface Setup {
  /** The state of the service before the first request. */
  readonly seed?: ServerSeed;
  /** API keys that the service knows; the first is used. */
  readonly keys?: readonly string[];
  /** Steps before the plan, in order. */
  readonly steps?: readonly Step[];
  /**
   * The planned and applied paths. Absent: every stack in the folder `stacks`; without that folder, the shared stack.yaml and the scenario's
   * manifest.yaml.
   */
  readonly paths?: readonly string[];
  /** The base URLs of several accounts. Each stack names its own. */
  readonly accounts?: readonly string[];
  /** Keeps the full texts of plan and apply in `plan.txt` and `apply.txt`. */
  readonly texts?: boolean;
  /** Texts that the plan or the apply must show, if the wording is the claim. */
  readonly shows?: readonly string[];
  /** Shows the plan as Markdown too: `plan.md`. */
  readonly markdown?: boolean;
  /** Runs `destroy` instead of plan and apply. Its plan is first shown and declined. */
  readonly command?: 'destroy';
  /** More words of every command, of `plan` and of `apply`. */
  readonly words?: readonly string[];
  readonly plan?: readonly string[];
  readonly apply?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Responses of a person. Absent: there is no terminal. */
  readonly answers?: readonly string[];
  /** Steps between a plan, which is then saved and applied as a file, and its apply. */
  readonly between?: readonly Step[];
  /** Faults during plan and apply. */
  readonly faults?: readonly Fault[];
  /** The service leaves out empty, null and false values. */
  readonly leavesOut?: boolean;
  /** A second apply without faults: `again.txt`. */
  readonly again?: boolean;
  /** Why the last plan is not empty. */
  readonly diverges?: string;
  /** Why planning sends another number of requests than one for each page of a kind's list and each module slot. */
  readonly reads?: Reads;
  /** Shows the reads of unused kinds too. */
  readonly inFull?: boolean;
}

/** `number`: the number of requests, however many kinds there are. `more`: the difference to the usual number. */
export type Reads = { readonly why: string } & ({ readonly number: number } | { readonly more: number });

/**
 * `apply`: applies a file beside `live.yaml`. `edgewise`: a command line; `exits` is its exit code, by default 0. `request`: another user sends
 * it to the service; `{Kind/name}` is the id of that resource. `wait`: advances the clock by seconds.
 */
export type Step =
  | { readonly apply: string }
  | { readonly edgewise: string; readonly exits?: number; readonly faults?: readonly Fault[] }
  | { readonly request: string; readonly body?: Json }
  | { readonly wait: number };

const SETUP_KEYS = [
  'seed',
  'keys',
  'steps',
  'paths',
  'accounts',
  'texts',
  'shows',
  'markdown',
  'command',
  'words',
  'plan',
  'apply',
  'env',
  'answers',
  'between',
  'faults',
  'leavesOut',
  'again',
  'diverges',
  'reads',
  'inFull',
];
const READS_KEYS = ['number', 'more', 'why'];
const STEP_KEYS = ['apply', 'edgewise', 'exits', 'faults', 'request', 'body', 'wait'];
const FAULT_KEYS = ['on', 'after', 'answer', 'forget', 'change', 'lost', 'interrupt', 'times'];

/** The folder of the stacks, if a scenario has several. */
export const TREE = 'stacks';

/** Returns the paths to plan and apply. If `isTree`, the only one is the root of a tree. */
export function toSubjects(
  { paths }: Setup,
  folder: string,
): { readonly paths: readonly string[]; readonly isTree: boolean } {
  if (paths !== undefined) return { paths, isTree: false };
  const isTree = existsSync(join(folder, TREE));
  return { paths: isTree ? [TREE] : ['stack.yaml', 'manifest.yaml'], isTree };
}

/** Reads the setup in a scenario's folder. Throws on an unknown key, because a misspelt scenario would test nothing. */
export async function readSetup(folder: string): Promise<Setup> {
  const file = join(folder, 'live.yaml');
  const setup: Json = existsSync(file) ? (parse(await readFile(file, 'utf8')) ?? {}) : {};
  expectKeys(setup, SETUP_KEYS);
  if (!isJsonObject(setup)) return {};
  expectKeys(setup['reads'] ?? {}, READS_KEYS);
  for (const list of [setup['steps'], setup['between']]) {
    for (const step of toMembers(list)) {
      expectKeys(step, STEP_KEYS);
      if (isJsonObject(step)) for (const fault of toMembers(step['faults'])) expectKeys(fault, FAULT_KEYS);
    }
  }
  for (const fault of toMembers(setup['faults'])) expectKeys(fault, FAULT_KEYS);
  return setup as Setup; // the keys are checked, and a value of another type fails the scenario
}

/** The members of a list. Another value has none. */
export function toMembers(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

function expectKeys(value: Json, known: readonly string[]): void {
  const unknown = Object.keys(value ?? {}).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    throw new Error(`live.yaml: ${unknown.join(', ')} means nothing; known are ${known.join(', ')}`);
}
