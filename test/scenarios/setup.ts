import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isJsonArray, isJsonObject, type Json } from '../../src/model/json.ts';
import type { ServerSeed } from '../../src/server/index.ts';
import type { Fault } from './faults.ts';

/** How live came to be what it is, and what is special about the run: what `live.yaml` holds. Everything may be left out. */
export interface Setup {
  /** What the service holds before anybody calls it. */
  readonly seed?: ServerSeed;
  /** API keys that the service knows; the first is used. */
  readonly keys?: readonly string[];
  /** Done one after another before anything is planned. */
  readonly steps?: readonly Step[];
  /** What is planned and applied. Left out: every stack in the folder `stacks`; without one, the shared stack.yaml and the scenario's manifest.yaml. */
  readonly paths?: readonly string[];
  /** The base URLs of its accounts, when a scenario has more than one: stacks say which is theirs. */
  readonly accounts?: readonly string[];
  /** The full texts of plan and apply are kept in `plan.txt` and `apply.txt`, not only their actions. */
  readonly texts?: boolean;
  /** Texts that the plan or the apply shows, where the wording is the claim. */
  readonly shows?: readonly string[];
  /** The plan is shown as Markdown too: `plan.md`. */
  readonly markdown?: boolean;
  /** `destroy` instead of plan and apply; its plan is shown, and declined, first. */
  readonly command?: 'destroy';
  /** More words of every command, of `plan` and of `apply`. */
  readonly words?: readonly string[];
  readonly plan?: readonly string[];
  readonly apply?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What a person answers; there is a person only where this stands. */
  readonly answers?: readonly string[];
  /** Done between the plan, which is saved then and applied as a file, and the apply. */
  readonly between?: readonly Step[];
  /** What goes wrong during plan and apply. */
  readonly faults?: readonly Fault[];
  /** The service leaves out what is empty, null or false. */
  readonly leavesOut?: boolean;
  /** Another apply after the first, when nothing goes wrong any more: `again.txt`. */
  readonly again?: boolean;
  /** Why there is something left to do in the end. */
  readonly diverges?: string;
  /** Why planning takes another number of requests than one for each page of a kind's list and each module slot. */
  readonly reads?: Reads;
  /** Reads of kinds that the scenario is not about are shown too. */
  readonly inFull?: boolean;
}

/** `number`: so many, however many kinds there are. `more`: so many more than usual, or fewer when it is negative. */
export type Reads = { readonly why: string } & ({ readonly number: number } | { readonly more: number });

/**
 * `apply`: a file beside `live.yaml` is applied. `edgewise`: a command line; `exits` is its exit code, 0 when it is left out.
 * `request`: another user sends it to the service; `{Kind/name}` in it is the id of that resource. `wait`: seconds go by.
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

/** The folder in which a scenario has several stacks. */
export const TREE = 'stacks';

/** What is planned and applied: paths, of which the only one is the root of a tree where `isTree` says so. */
export function toSubjects(
  { paths }: Setup,
  folder: string,
): { readonly paths: readonly string[]; readonly isTree: boolean } {
  if (paths !== undefined) return { paths, isTree: false };
  const isTree = existsSync(join(folder, TREE));
  return { paths: isTree ? [TREE] : ['stack.yaml', 'manifest.yaml'], isTree };
}

/** The setup of a scenario's folder. Throws on a key that means nothing, since a scenario that is misspelt shows nothing. */
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
  return setup as Setup; // its keys are checked, and a value of another type breaks the scenario that it stands in
}

/** The members of a list; none when it is not one. */
export function toMembers(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

function expectKeys(value: Json, known: readonly string[]): void {
  const unknown = Object.keys(value ?? {}).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    throw new Error(`live.yaml: ${unknown.join(', ')} means nothing; known are ${known.join(', ')}`);
}
