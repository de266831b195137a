import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { parseAst } from 'vite';
import { type CallMutant, openCallMutants } from './call-mutants.ts';
import { applyMutant, createMutant, createRandom, drawFrom, isSameMutant, type Mutant } from './mutant.ts';
import { writeSwitches } from './mutant-switches.ts';
import { copyCheckout } from './pack.ts';
import { type ReachingTest, recordReach, tryMutants } from './switched-tests.ts';

/**
 * `npm run mutants -- --seed N [--room ROOM…]`: breaks Edgewise in one place at a time, in a copy of the checkout, and runs `npm test` on it. A
 * mutant that no test notices survives: add a test, or list it with its reason in `test/mutants/equivalent.json` if it changes nothing that a user
 * can see. Draws two mutants in each room of `src`, and five in each area in which a mistake is worst. Ends with exit code 1 if any survives.
 *
 * `npm run mutants -- --calls [--most N]`: breaks calls from one file to another instead. Draws one for each pair of rooms, and all of the main story
 * and of the client; at most N of each of the three. With `--all`, what survives `npm test` meets the other tests, and is counted apart.
 *
 * With `--results FILE`, each result is added to the file, and what a test has noticed according to it counts and is not tested again: a long run
 * goes on after an end in its middle.
 */

/** The areas in which a mistake would do most harm, by file. */
const AREAS: Readonly<Record<string, string>> = {
  access: 'src/{access/*,kinds/access-effect}.ts',
  policy: 'src/policy/**/*.ts',
  redaction: 'src/{report/view/redact,model/secrets,model/secret-value,kinds/conceal}.ts',
  approval: 'src/{stack/approval,plan/compare/*,cli/reconcile/approvals}.ts',
  duplicates: 'src/{plan/duplicates,kinds/precedence,model/ownership}.ts',
  settings: 'src/settings/**/*.ts',
  prompts: 'src/cli/{commands/init,program,reconcile/question}.ts',
};

/** A mutant that changes nothing that a user can see, and why. `from` and `to` are code of one place. */
interface Equivalent {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** Operators, and their replacements. */
const OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
};

/** Methods of lists, and their replacements; an empty text removes the call. */
const METHODS: Readonly<Record<string, string>> = { some: 'every', every: 'some', filter: '', toSorted: '', sort: '' };

const EQUIVALENT: readonly Equivalent[] = JSON.parse(readFileSync('test/mutants/equivalent.json', 'utf8'));

/** Returns each place of a source that can be broken, with its replacement. */
function listMutants(file: string): readonly Mutant[] {
  const source = readFileSync(file, 'utf8');
  const nodes = listNodes(parseAst(source, { lang: 'ts' }));
  return nodes.flatMap((node) => {
    const edit = breakNode(node, source);
    if (edit === undefined) return [];
    return [createMutant(file, source, edit)];
  });
}

/** Returns a node and all nodes in it, except types. */
function listNodes(value: unknown): readonly Node[] {
  if (Array.isArray(value)) return value.flatMap(listNodes);
  if (typeof value !== 'object' || value === null) return [];
  const isType = isNode(value) && /^TS(?!As|NonNull|Satisfies)|^Import/.test(value.type);
  if (isType) return [];
  const inner = Object.values(value).flatMap(listNodes);
  return isNode(value) ? [value, ...inner] : inner;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;
}

type Edit = Pick<Mutant, 'start' | 'end' | 'to'>;

/** Breaks one node. Text of messages is left alone: a wording is not a behaviour. */
function breakNode(node: Node, source: string): Edit | undefined {
  const { type, start, end } = node;
  const textOf = (inner: unknown) => (isNode(inner) ? source.slice(inner.start, inner.end) : '');
  const { left, right, test, argument, callee } = node;
  if ((type === 'BinaryExpression' || type === 'LogicalExpression') && isNode(left) && isNode(right)) {
    const to = OPERATORS[String(node['operator'])];
    const between = { start: left.end, end: right.start };
    const operator = source.slice(between.start, between.end);
    return to === undefined ? undefined : { ...between, to: operator.replace(String(node['operator']), to) };
  }
  if (type === 'IfStatement' && isNode(test)) return { start: test.start, end: test.end, to: 'false' };
  if (type === 'ConditionalExpression' && isNode(test))
    return { start: test.start, end: test.end, to: `!(${textOf(test)})` };
  if (type === 'UnaryExpression' && node['operator'] === '!') return { start, end, to: textOf(argument) };
  if (type === 'Literal' && typeof node['value'] === 'boolean') return { start, end, to: String(!node['value']) };
  if (type === 'Literal' && typeof node['value'] === 'number') return { start, end, to: String(node['value'] + 1) };
  if (type === 'CallExpression' && isNode(callee) && callee.type === 'MemberExpression') {
    const { object, property } = callee;
    const to = METHODS[textOf(property)];
    if (to === undefined || !isNode(object) || !isNode(property)) return undefined;
    return to === '' ? { start: object.end, end, to } : { start: property.start, end: property.end, to };
  }
  const { expression } = node;
  if (type === 'ExpressionStatement' && isNode(expression) && /^(Call|Await)Expression$/.test(expression.type))
    return { start, end, to: ';' };
  return undefined;
}

/** Draws mutants of some files: each place is as likely as every other. */
function drawMutants(pattern: string, count: number, random: () => number): readonly Mutant[] {
  const places = globSync(pattern).sort().flatMap(listMutants);
  return drawFrom(places, count, { random, accepts: isNotEquivalent });
}

function isNotEquivalent(mutant: Mutant): boolean {
  return !EQUIVALENT.some((one) => isSameMutant(one, mutant));
}

/** Time limits of the build, of the tests of one room and of all tests on a busy machine. A mutant that makes them hang counts as noticed. */
const [BUILD_MS, ROOM_MS, ALL_MS] = [120_000, 240_000, 1_200_000];

interface Ended {
  readonly failed: boolean;
  readonly stdout: string;
}

/** Runs a program until it and its child processes end, or ends all of them after `timeoutMs`. */
async function runProgram(args: readonly string[], cwd: string, timeoutMs: number): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn(process.execPath, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const endAll = () => process.kill(-(child.pid ?? 0), 'SIGKILL');
  const timer = setTimeout(endAll, timeoutMs);
  const [stdout, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  clearTimeout(timer);
  return { failed: exitCode !== 0, stdout };
}

/** Copies the checkout into `folder` as a repository of its own with its own packages, so that every test passes there. */
function createCheckout(folder: string): void {
  copyCheckout(folder);
  cpSync('node_modules', join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
  ])
    execFileSync('git', args, { cwd: folder });
}

/** A mutant to test, and what it is one of. */
interface DrawnMutant {
  readonly name: string;
  readonly mutant: Mutant;
  /** The folders of tests that come first. */
  readonly rooms: readonly string[];
  /** The broken call, which is known to compile. `undefined`: the mutant breaks another place. */
  readonly call?: CallMutant | undefined;
}

/** The test that notices a mutant, `the build` or `a timeout`. `isInAll`: only `npm run test:all` has it. */
interface Killer {
  readonly test: string;
  readonly isInAll: boolean;
}

/**
 * Returns what notices a mutant; `undefined` if it survives. A mutant of a call has passed the tests that reach it. Others may: those that import a
 * module which reaches it once, and those that start a program.
 */
async function findKiller(checkout: string, { mutant, rooms, call }: DrawnMutant): Promise<Killer | undefined> {
  const path = join(checkout, mutant.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, applyMutant(source, mutant));
  const test = (args: readonly string[], timeoutMs: number) =>
    findFailingTest(checkout, ['--maxWorkers=1', ...args], timeoutMs);
  const folders = rooms.map((room) => `test/${room}/`);
  try {
    const found =
      ((await failsToBuild(checkout)) ? 'the build' : undefined) ??
      (call === undefined ? await test(['--project', 'fast', '--passWithNoTests', ...folders], ROOM_MS) : undefined) ??
      (await test(NPM_TEST, ALL_MS));
    if (found !== undefined) return { test: found, isInAll: false };
    const all = values.all ? await test(TEST_ALL, ALL_MS) : undefined;
    return all === undefined ? undefined : { test: all, isInAll: true };
  } finally {
    writeFileSync(path, source);
  }
}

/**
 * Tests mutants of calls with the fast tests, all in one checkout. Calls `onNoticed` for each that a test notices. Tests of
 * the two rooms come first, and short ones before long ones: most mutants are noticed by one of the first.
 */
async function tryCalls(
  checkout: string,
  drawn: readonly (DrawnMutant & { readonly call: CallMutant })[],
  onNoticed: (drawn: DrawnMutant, test: string) => void,
): Promise<void> {
  writeSwitches(
    checkout,
    drawn.map(({ call }) => call),
  );
  const reach = await recordReach(checkout, drawn.length);
  const noticed = new Set<number>();
  const tell = (index: number, test: string): void => {
    noticed.add(index);
    const one = drawn[index];
    if (one !== undefined) onNoticed(one, test);
  };
  const untried = reach.map((tests, index) => orderTests(tests, drawn[index]?.rooms ?? []));
  for (const budgetMs of BUDGETS_MS) {
    const left = drawn.keys().filter((index) => !noticed.has(index));
    const tests = new Map(left.map((index) => [index, takeFirst(untried[index] ?? [], budgetMs)]));
    await tryMutants(checkout, tests, tell);
  }
}

/** First, each mutant is tried with tests that take so long; then those that no test noticed with longer ones, then with all. */
const BUDGETS_MS: readonly number[] = [4000, 30_000, Number.POSITIVE_INFINITY];

function orderTests(tests: readonly ReachingTest[], rooms: readonly string[]): ReachingTest[] {
  const isOwn = ({ file }: ReachingTest): boolean => rooms.some((room) => file.startsWith(`test/${room}/`));
  const toWeight = (test: ReachingTest): number => test.durationMs / (isOwn(test) ? 10 : 1);
  return tests.toSorted((a, b) => toWeight(a) - toWeight(b));
}

/** Removes the first tests from a list, until they take `budgetMs`. */
function takeFirst(tests: ReachingTest[], budgetMs: number): readonly ReachingTest[] {
  let count = 0;
  for (let usedMs = 0; usedMs < budgetMs && count < tests.length; count += 1) usedMs += tests[count]?.durationMs ?? 0;
  return tests.splice(0, count);
}

async function failsToBuild(checkout: string): Promise<boolean> {
  for (const args of [['.ci/build.ts'], ['node_modules/typescript/bin/tsc', '-p', '.ci/tsconfig.lib.json']])
    if ((await runProgram(args, checkout, BUILD_MS)).failed) return true;
  return false;
}

const VITEST = 'node_modules/vitest/vitest.mjs';
const NPM_TEST = ['--project', 'fast', '--project', 'installed'];
/** The projects of `npm run test:all` that need no program beside Node, and break nothing themselves. */
const TEST_ALL = ['laws', 'invented-kinds', 'attacks', 'documents', 'journeys', 'load'].flatMap((name) => [
  '--project',
  name,
]);

/** Runs some tests. Returns the one that fails first, or `a timeout`; undefined if all pass. */
async function findFailingTest(
  checkout: string,
  tests: readonly string[],
  timeoutMs: number,
): Promise<string | undefined> {
  const words = [VITEST, 'run', '--config', 'test/vitest.config.ts', '--bail=1', ...tests];
  const { failed, stdout } = await runProgram(words, checkout, timeoutMs);
  return failed ? (/^ *(?:FAIL|×) +(.*)/m.exec(stdout)?.[1] ?? 'a timeout') : undefined;
}

/** So many mutants are tested at the same time, each in a checkout of its own and with one worker. */
const MOST_AT_ONCE = 4;

/** A line of the file of results. Without `killer`, the mutant survived. */
interface Result extends Pick<Mutant, 'file' | 'line' | 'from' | 'to'> {
  readonly killer?: Killer | undefined;
}

function readResults(path: string | undefined): readonly Result[] {
  if (path === undefined || !existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line): Result => JSON.parse(line));
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Date.now() / 86_400_000)) },
    room: { type: 'string', multiple: true },
    calls: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    most: { type: 'string' },
    list: { type: 'boolean', default: false },
    results: { type: 'string' },
  },
});
console.log(`seed ${values.seed}`);
const random = createRandom(Number(values.seed));
const mutants = values.calls ? drawCallMutants() : drawPlaceMutants();
if (values.list) for (const drawn of mutants) console.log(formatMutant(drawn));
else await testMutants();

function drawPlaceMutants(): readonly DrawnMutant[] {
  const rooms = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const patterns = [
    ...rooms.map(({ name }) => [name, `src/${name}/**/*.ts`, 2] as const),
    ...Object.entries(AREAS).map(([name, pattern]) => [`area ${name}`, pattern, 5] as const),
  ].filter(([name]) => values.room === undefined || values.room.includes(name));
  return patterns.flatMap(([name, pattern, count]) =>
    drawMutants(pattern, count, random).map((mutant) => ({
      ...{ name, mutant },
      rooms: [mutant.file.split('/')[1] ?? ''],
    })),
  );
}

function drawCallMutants(): readonly DrawnMutant[] {
  const most = values.most === undefined ? Number.POSITIVE_INFINITY : Number(values.most);
  const { calls, groups, draw, close } = openCallMutants(process.cwd());
  const pairs = [...groups.keys()].filter((group) => group.includes(' → ')).sort();
  const drawOf = (group: string, count: number) =>
    draw(groups.get(group) ?? [], count, { random, accepts: isNotEquivalent }).map((mutant) => ({
      ...{ name: `${group}, ${mutant.operator}`, mutant, call: mutant },
      rooms: mutant.rooms,
    }));
  const drawn = [
    ...drawFrom(pairs, most, { random }).flatMap((pair) => drawOf(pair, 1)),
    ...['story', 'client'].flatMap((group) => drawOf(group, most)),
  ];
  close();
  // What is drawn for a pair of rooms may be drawn for the story, too.
  const unique = drawn.filter(
    ({ mutant }, index) =>
      drawn.findIndex((one) => isSameMutant(one.mutant, mutant) && one.mutant.start === mutant.start) === index,
  );
  console.log(
    `${calls.length} calls from one file to another, ${pairs.length} pairs of rooms, ${unique.length} mutants`,
  );
  return unique;
}

function formatMutant({ name, mutant: { file, line, from, to } }: DrawnMutant): string {
  return `${name}: ${file}:${line}  ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
}

/** Tests mutants in some checkouts of their own. First, all tests must pass without a mutant. */
async function testOneByOne(
  folder: string,
  queue: DrawnMutant[],
  onEnd: (drawn: DrawnMutant, killer: Killer | undefined) => void,
): Promise<void> {
  const checkouts = Array.from({ length: Math.min(availableParallelism(), MOST_AT_ONCE) }, (_, index) =>
    join(folder, String(index)),
  );
  for (const checkout of checkouts) createCheckout(checkout);
  const [first = folder] = checkouts;
  const failing = (await failsToBuild(first)) ? 'the build' : await findFailingTest(first, NPM_TEST, ALL_MS);
  if (failing !== undefined) throw new Error(`Without a mutant, this fails: ${failing}`);
  const testIn = async (checkout: string): Promise<void> => {
    for (let drawn = queue.shift(); drawn !== undefined; drawn = queue.shift())
      onEnd(drawn, await findKiller(checkout, drawn));
  };
  await Promise.all(checkouts.map(testIn));
}

async function testMutants(): Promise<void> {
  const noticed = readResults(values.results).filter(({ killer }) => killer !== undefined);
  const counts = { 'npm test': 0, 'test:all': 0, nothing: 0 };
  const count = (killer: Killer | undefined): void => {
    counts[killer === undefined ? 'nothing' : killer.isInAll ? 'test:all' : 'npm test'] += 1;
  };
  const waiting = new Set(mutants);
  const settle = (drawn: DrawnMutant, killer: Killer | undefined): void => {
    waiting.delete(drawn);
    count(killer);
    const { file, line, from, to } = drawn.mutant;
    const result: Result = { file, line, from, to, killer };
    if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(result)}\n`);
    const end = killer === undefined ? 'SURVIVED' : `killed by ${killer.test}${killer.isInAll ? ', of test:all' : ''}`;
    console.log(`${formatMutant(drawn)}\n  ${end}`);
  };
  for (const drawn of mutants) {
    const before = noticed.find((one) => isSameMutant(one, drawn.mutant) && one.line === drawn.mutant.line);
    if (before === undefined) continue;
    waiting.delete(drawn);
    count(before.killer);
  }
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-mutants-'));
  try {
    const calls = [...waiting].flatMap((drawn) => (drawn.call === undefined ? [] : [{ ...drawn, call: drawn.call }]));
    if (calls.length > 0) {
      const switched = join(folder, 'switched');
      createCheckout(switched);
      await tryCalls(switched, calls, ({ mutant }, test) => {
        const drawn = mutants.find((one) => one.mutant === mutant);
        if (drawn !== undefined) settle(drawn, { test, isInAll: false });
      });
    }
    if (waiting.size > 0) await testOneByOne(folder, [...waiting], settle);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { 'npm test': byTest, 'test:all': byAll, nothing } = counts;
  console.log(
    `${mutants.length} mutants: ${byTest} killed by npm test, ${byAll} only by test:all, ${nothing} by nothing`,
  );
  if (nothing > 0) process.exitCode = 1;
}
