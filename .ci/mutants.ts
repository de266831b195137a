import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { parseAst } from 'vite';
import { copyCheckout } from './pack.ts';

/**
 * `npm run mutants -- --seed N [--room ROOM…]`: breaks Edgewise in one place at a time, in a copy of the checkout, and runs `npm test` on it. A
 * mutant that no test notices survives: add a test, or list it with its reason in `test/mutants/equivalent.json` if it changes nothing that a user
 * can see. Draws two mutants in each room of `src`, and five in each area in which a mistake is worst. Ends with exit code 1 if any survives.
 */

/** The areas in which a mistake would do most harm, by file. */
const AREAS: Readonly<Record<string, string>> = {
  access: 'src/{access/*,kinds/access-effect}.ts',
  policy: 'src/policy/**/*.ts',
  redaction: 'src/{report/view/redact,model/secrets,model/secret-value,kinds/conceal}.ts',
  approval: 'src/{stack/approval,plan/compare/*,cli/reconcile/approvals}.ts',
  duplicates: 'src/{plan/duplicates,kinds/precedence,model/ownership}.ts',
  settings: 'src/settings/**/*.ts',
  prompts: 'src/cli/{commands/init,program,reconcile/apply-stacks}.ts',
};

/** One broken place in a source. */
interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

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
    const { start, end, to } = edit;
    const line = source.slice(0, start).split('\n').length;
    return [{ file, line, start, end, from: source.slice(start, end), to }];
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

/** A generator of numbers from 0 to below 1, by mulberry32: the same seed draws the same mutants. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws mutants of some files: each place is as likely as every other. */
function drawMutants(pattern: string, count: number, random: () => number): readonly Mutant[] {
  const places = globSync(pattern)
    .sort()
    .flatMap(listMutants)
    .filter(
      (mutant) =>
        !EQUIVALENT.some(({ file, from, to }) => file === mutant.file && from === mutant.from && to === mutant.to),
    );
  const drawn = new Set<Mutant>();
  while (drawn.size < Math.min(count, places.length)) {
    const place = places[Math.floor(random() * places.length)];
    if (place !== undefined) drawn.add(place);
  }
  return [...drawn];
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

/** Returns the test that notices a mutant, `the build` or `a timeout`; undefined if it survives. The tests of its own room come first. */
async function findKiller(checkout: string, { file, start, end, to }: Mutant): Promise<string | undefined> {
  const path = join(checkout, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, `${source.slice(0, start)}${to}${source.slice(end)}`);
  try {
    if (await failsToBuild(checkout)) return 'the build';
    const ofItsRoom = ['--project', 'fast', '--passWithNoTests', `test/${file.split('/')[1]}/`];
    return (await findFailingTest(checkout, ofItsRoom, ROOM_MS)) ?? (await findFailingTest(checkout, NPM_TEST, ALL_MS));
  } finally {
    writeFileSync(path, source);
  }
}

async function failsToBuild(checkout: string): Promise<boolean> {
  for (const args of [['.ci/build.ts'], ['node_modules/typescript/bin/tsc', '-p', '.ci/tsconfig.lib.json']])
    if ((await runProgram(args, checkout, BUILD_MS)).failed) return true;
  return false;
}

const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--bail=1'];
const NPM_TEST = ['--project', 'fast', '--project', 'installed'];

/** Runs some tests. Returns the one that fails first, or `a timeout`; undefined if all pass. */
async function findFailingTest(
  checkout: string,
  tests: readonly string[],
  timeoutMs: number,
): Promise<string | undefined> {
  const { failed, stdout } = await runProgram([...VITEST, ...tests], checkout, timeoutMs);
  return failed ? (/^ *(?:FAIL|×) +(.*)/m.exec(stdout)?.[1] ?? 'a timeout') : undefined;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Date.now() / 86_400_000)) },
    room: { type: 'string', multiple: true },
    list: { type: 'boolean', default: false },
  },
});
const rooms = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory());
const patterns = [
  ...rooms.map(({ name }) => [name, `src/${name}/**/*.ts`, 2] as const),
  ...Object.entries(AREAS).map(([name, pattern]) => [`area ${name}`, pattern, 5] as const),
].filter(([name]) => values.room === undefined || values.room.includes(name));

console.log(`seed ${values.seed}`);
const random = createRandom(Number(values.seed));
const mutants = patterns.flatMap(([name, pattern, count]) =>
  drawMutants(pattern, count, random).map((mutant) => ({ name, mutant })),
);
if (values.list) for (const drawn of mutants) console.log(formatMutant(drawn));
else await testMutants();

function formatMutant({ name, mutant: { file, line, from, to } }: (typeof mutants)[number]): string {
  return `${name}: ${file}:${line}  ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
}

async function testMutants(): Promise<void> {
  const checkout = mkdtempSync(join(tmpdir(), 'edgewise-mutants-'));
  let survivors = 0;
  try {
    createCheckout(checkout);
    const failing = (await failsToBuild(checkout)) ? 'the build' : await findFailingTest(checkout, NPM_TEST, ALL_MS);
    if (failing !== undefined) throw new Error(`Without a mutant, this fails: ${failing}`);
    for (const drawn of mutants) {
      console.log(formatMutant(drawn));
      const killer = await findKiller(checkout, drawn.mutant);
      console.log(killer === undefined ? '  SURVIVED' : `  killed by ${killer}`);
      if (killer === undefined) survivors += 1;
    }
  } finally {
    rmSync(checkout, { recursive: true });
  }
  console.log(`${mutants.length - survivors} of ${mutants.length} mutants killed`);
  if (survivors > 0) process.exitCode = 1;
}
