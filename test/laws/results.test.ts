import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResultJsonSchema } from '../../src/schemas/results.ts';
import { openWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { LONG } from '../tries.ts';
import { holds } from './properties.ts';

const conforms = new Ajv2020({ strict: false }).compile(createResultJsonSchema());

/** What a stack is when a command runs. */
const STATES = ['new', 'unchanged', 'changed', 'emptied', 'invalid', 'unreadable', 'unreachable'] as const;

type State = (typeof STATES)[number];

interface Entry {
  readonly stack?: string;
  readonly folder?: string;
  readonly ok: boolean;
  readonly plan?: { readonly changes: readonly { readonly action: string; readonly address: string }[] };
  readonly failure?: object;
}

interface Result {
  readonly ok: boolean;
  readonly stacks: readonly Entry[];
  readonly failure?: object;
}

function toFiles(state: State, index: number, isBefore: boolean): Readonly<Record<string, string>> {
  const name = `s${index}`;
  const folder = `live/${name}`;
  const edges = [0, 1].map((one) => toEdge(`e${one}`, 20_000 + 10 * index + one));
  const isDown = state === 'unreachable' && !isBefore;
  const stack = toStack(name, { api: { base_url: isDown ? 'https://down.test' : 'https://api.test' } });
  if (isBefore) return { [`${folder}/edgewise.yaml`]: `${stack}${state === 'new' ? '' : edges.join('')}` };
  const now: Readonly<Record<State, string>> = {
    new: edges.join(''),
    unchanged: edges.join(''),
    changed: edges.join('').replace(`${20_000 + 10 * index}"`, `${20_005 + 10 * index}"`),
    emptied: edges[0] ?? '',
    invalid: `${edges.join('')}  colour: red\n`,
    unreadable: `${edges.join('')}---\n{ "a: `,
    unreachable: edges.join(''),
  };
  return { [`${folder}/edgewise.yaml`]: `${stack}${now[state]}` };
}

async function createTree(states: readonly State[]): Promise<Workspace & { readonly remove: () => Promise<void> }> {
  const write = (isBefore: boolean) => Object.assign({}, ...states.map((state, at) => toFiles(state, at, isBefore)));
  const workspace = await openWorkspace(write(true));
  expect((await workspace.edgewise('apply -R live --yes', { env: { EDGEWISE_BASE_URL: '' } })).exitCode).toBe(0);
  await workspace.write(write(false));
  return workspace;
}

async function run({ edgewise, recorder }: Workspace, line: string): Promise<Result> {
  const { stdout } = await edgewise(`${line} --format json`, {
    env: { EDGEWISE_BASE_URL: '' },
    transport: async (request) => {
      if (new URL(request.url).host === 'down.test') throw new TypeError('fetch failed');
      return recorder.transport(request);
    },
  });
  // Only a run over many stacks knows which stacks the repository lacks. A run that waits is later.
  const result: Result = JSON.parse(stdout, (name, value) => (['absence', 'made'].includes(name) ? undefined : value));
  expect(conforms(JSON.parse(stdout)), `${line}\n${JSON.stringify(conforms.errors)}`).toBe(true);
  return result;
}

/** What a program that looks for changes finds: their addresses, or that there is no plan. */
function findChanges({ failure, stacks }: Result): readonly (readonly string[] | 'no plan')[] {
  if (failure !== undefined) return ['no plan'];
  return stacks.map(
    ({ plan }) => plan?.changes.filter(({ action }) => action !== 'no-op').map(({ address }) => address) ?? 'no plan',
  );
}

const EXPECTED: Readonly<Record<State, readonly string[] | 'no plan'>> = {
  new: ['TCPEdge/e0', 'TCPEdge/e1'],
  unchanged: [],
  changed: ['TCPEdge/e0'],
  emptied: ['TCPEdge/e1'],
  invalid: 'no plan',
  unreadable: 'no plan',
  unreachable: 'no plan',
};

describe('the JSON of a run', () => {
  it('has one entry for each stack, the same for one as for many, whatever became of the others', LONG, async () => {
    const arbitraryStates = fc.array(fc.constantFrom(...STATES), { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(arbitraryStates, async (states) => {
      const workspace = await createTree(states);
      try {
        const names = states.map((_, index) => `s${index}`);
        for (const command of ['validate', 'drift', 'get', 'plan']) {
          const all = await run(workspace, `${command} -R live`);
          expect(all.stacks.map(({ stack, folder }) => [stack, folder])).toEqual(
            names.map((name) => [name, `live/${name}`]),
          );
          expect(all.ok).toBe(all.stacks.every(({ ok }) => ok));
          for (const [index, name] of names.entries()) {
            const alone = await run(workspace, `${command} live/${name}`);
            const [one = { ok: false, failure: alone.failure }] = alone.stacks;
            const entry = all.stacks[index];
            expect(one.ok, `${command} ${name}`).toBe(entry?.ok);
            // A prune waits for the stacks that are unknown, and a failure may be known before its stack is.
            const isKept = states[index] === 'emptied' && command === 'plan' && states.some(isUnknown);
            if (!isKept) expect({ ...one, stack: name, folder: `live/${name}` }).toEqual(entry);
          }
          if (command !== 'plan') continue;
          const isKept = states.some(isUnknown);
          expect(findChanges(all)).toEqual(
            states.map((state) => (state === 'emptied' && isKept ? [] : EXPECTED[state])),
          );
        }
        const applied = await run(workspace, 'apply -R live --yes');
        expect(applied.stacks.map(({ stack }) => stack)).toEqual(names);
        expect(findChanges(applied).map((found) => found === 'no plan')).toEqual(
          states.map((state) => EXPECTED[state] === 'no plan'),
        );
      } finally {
        await workspace.remove();
      }
    });
    await holds(property, 40);
  });
});

/** Whether the others of the account keep what they would prune, because the stack is unknown. */
function isUnknown(state: State): boolean {
  return state === 'invalid' || state === 'unreadable';
}
