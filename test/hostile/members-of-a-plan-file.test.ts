import fs from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../../src/model/json.ts';
import { type Members, PLAN_MEMBERS } from '../../src/model/plan-members.ts';
import { createServer, parseApiKey, type ServerSnapshot } from '../../src/server/index.ts';
import { NOW, runCommand } from '../cli/fake-context.ts';
import { openWorkspace, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { toStack } from '../repository/tree.ts';
import { HAS_ALL_TRIES, LONG } from '../tries.ts';

/** The attacker writes a hostile value into one member of a plan file: each member in turn. */

const EDGE_ID = 'edghts_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';
const ROUTE_ID = 'edghtsrt_2fmnqYVGqgSNfrKbLQ5kCTTKaBB';

const toTokens = (line: string) => ({ tokens: { default: { command: ['sh', '-c', line] } } });

/** Its value is hidden, and the plan has a slow digest of it. */
const toRoute = (when: string) =>
  toManifest('HTTPSEdgeRoute', 'route', {
    edge_id: EDGE_ID,
    id: ROUTE_ID,
    request_headers: { add: { authorization: `Bearer of-${when}`, 'x-a': 'b' } },
  });

const toShop = (folder: string, more: string) =>
  toStack('shop', {
    ...toTokens(`cat > /dev/null; echo "$EDGEWISE_NAME" >> '${folder}/ran'`),
    guard: { max_deletes: 5, max_delete_share: 1 },
    team_label: 'team',
  }) + more;

/** A stack with a change of each action, and a fake service that has what it had before. */
interface Attacked {
  readonly workspace: Workspace & { readonly remove: () => Promise<void> };
  readonly snapshot: ServerSnapshot;
  readonly plan: JsonObject;
}

async function createAttacked(...more: readonly ((when: string) => string)[]): Promise<Attacked> {
  const workspace = await openWorkspace();
  const { folder, write, edgewise, server } = workspace;
  const certificate = (principal: string) =>
    toManifest(
      'SSHUserCertificate',
      'alice',
      { ssh_certificate_authority_id: 'sshca_1', principals: [principal], public_key: KEY },
      { lifecycle: { valid_for: '90d' } },
    );
  const before = [
    toEdge('changed', 20_001),
    toEdge('gone', 20_002),
    toEdge('same', 20_003),
    certificate('alice'),
    ...more.map((toMore) => toMore('before')),
  ];
  const line = { env: { PATH: process.env['PATH'] ?? '' } };
  await write({ 'm/edgewise.yaml': toShop(folder, before.join('')), 'm/.git/HEAD': 'ref: refs/heads/main\n' });
  expect(await edgewise('apply m --yes', line)).toMatchObject({ exitCode: 0, stdout: expect.any(String) });
  const after = [
    toEdge('changed', 20_011).replace('spec', 'lifecycle: { protect: false, ignore: [description] }\nspec'),
    toEdge('same', 20_003),
    toEdge('new', 20_004),
    toManifest('Credential', 'agent', { acl: ['bind:b.example.com'] }),
    certificate('bob'),
    ...more.map((toMore) => toMore('after')),
  ];
  await write({
    'm/edgewise.yaml': toShop(folder, after.join('')),
    'evil/.git/HEAD': 'ref: refs/heads/main\n',
    'evil/edgewise.yaml':
      toStack('shop', { api: { base_url: 'https://evil.example' }, ...toTokens(`touch '${folder}/pwned'`) }) +
      toManifest('Credential', 'evil', {}),
  });
  expect(await edgewise('plan m -o plan.json', line)).toMatchObject({ exitCode: 0 });
  const plan = parseJson(await readFile(join(folder, 'plan.json'), 'utf8'));
  if (!isJsonObject(plan)) throw new Error('The plan file is no object');
  return { workspace, snapshot: server.snapshot(), plan };
}

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

/** A rehearsal sends nothing, and takes as long as the rest. */
const APPLY = ['apply', 'm', '--approved', 'plan.json', '--no-rehearsal'];

/** What a run reads, sends, runs and asks. */
interface Effects {
  readonly exitCode: number;
  readonly read: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly ran: string;
  readonly asked: readonly string[];
}

async function run(argv: readonly string[], { workspace, snapshot }: Attacked): Promise<Effects> {
  const { folder } = workspace;
  await rm(join(folder, 'ran'), { force: true });
  const server = createServer({
    now: () => NOW,
    idSeed: 'test',
    apiKeys: [parseApiKey('dev:admin')],
    seed: snapshot,
  });
  const sent: string[] = [];
  const transport = async (request: Request) => {
    const { method, url, headers } = request;
    const body = method === 'GET' ? '' : await request.clone().text();
    sent.push(`${method} ${url} ${headers.get('authorization')} ${body}`);
    return server.handle(request);
  };
  const opened: string[] = [];
  const { openSync } = fs;
  fs.openSync = (path, ...more) => {
    opened.push(String(path));
    return openSync(path, ...more);
  };
  syncBuiltinESMExports();
  try {
    const env = { PATH: process.env['PATH'] ?? '' };
    const ended = await runCommand(argv, { cwd: folder, transport, answers: ['yes'], env });
    return {
      exitCode: ended.exitCode,
      read: [...new Set(opened)].filter((path) => path.startsWith(folder)).sort(),
      reads: sent.filter((line) => line.startsWith('GET ')).sort(),
      writes: sent.filter((line) => !line.startsWith('GET ')).sort(),
      ran: await readFile(join(folder, 'ran'), 'utf8').catch(() => ''),
      asked: ended.stderr.match(/^.*yes$/gm) ?? [],
    };
  } finally {
    fs.openSync = openSync;
    syncBuiltinESMExports();
  }
}

type Path = readonly (string | number)[];

interface Attack {
  readonly path: Path;
  readonly value: Json | undefined;
}

/** Returns the value with another value at a path. `undefined`: without that member. */
function setAt(value: Json | undefined, [step, ...rest]: Path, to: Json | undefined): Json | undefined {
  if (step === undefined) return to;
  if (typeof step === 'number') {
    const members = value !== undefined && isJsonArray(value) ? [...value] : [];
    const next = setAt(members[step], rest, to);
    members.splice(step, 1, ...(next === undefined ? [] : [next]));
    return members;
  }
  const { [step]: old, ...others } = value !== undefined && isJsonObject(value) ? value : {};
  const next = setAt(old, rest, to);
  return next === undefined ? others : { ...others, [step]: next };
}

function getAt(value: Json | undefined, [step, ...rest]: Path): Json | undefined {
  if (step === undefined || value === undefined) return value;
  const next = Object.hasOwn(Object(value), step) ? Reflect.get(Object(value), step) : undefined;
  return getAt(next, rest);
}

/** Lists the path of each value in the document, once for each kind of place: of a list, the first member is enough. */
function listPaths(value: Json, path: Path = []): readonly Path[] {
  const inner: readonly (readonly [string | number, Json])[] = isJsonArray(value)
    ? [...value.entries()]
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  return [path, ...inner.flatMap(([step, member]) => listPaths(member, [...path, step]))];
}

const PLAN: Path = ['stacks', 0, 'plan'];

/** Lists the path of each member in the list of what an approval binds, also of members that the file lacks. */
function listMemberPaths(rules: Members, document: Json, path: Path): readonly Path[] {
  const found = getAt(document, path);
  if (found !== undefined && isJsonArray(found))
    return found.length === 0
      ? listMemberPaths(rules, document, [...path, 0])
      : found.flatMap((_, index) => listMemberPaths(rules, document, [...path, index]));
  return Object.entries(rules).flatMap(([name, rule]) => [
    [...path, name],
    ...(rule.rule === 'members' ? listMemberPaths(rule.of, document, [...path, name]) : []),
  ]);
}

/** Names a kind of place: the members of a list are alike. */
function toPlaceName(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? '*' : step)).join('.');
}

function flip(value: Json | undefined): Json {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}x`;
  if (value !== undefined && isJsonArray(value)) return [];
  return value === undefined || value === null ? 'x' : {};
}

/** The values that a member gets: of a member that is listed, more than of what is inside one. */
function listHostileValues(old: Json | undefined, folder: string, isListed: boolean): readonly (Json | undefined)[] {
  const command = ['sh', '-c', `touch '${folder}/pwned'`];
  const settings = { command, directory: `${folder}/evil`, file: 'edgewise.yaml', base_url: 'https://evil.example' };
  const values = [
    flip(old),
    `${folder}/evil`,
    settings,
    'https://evil.example/',
    command,
    old === undefined ? null : undefined,
  ];
  if (HAS_ALL_TRIES) return values;
  return values.slice(0, isListed ? 4 : 1);
}

/** Each kind of place in a plan file once: the first that has a value, or one without. */
function listAttacks({ plan, workspace }: Attacked): readonly (readonly [string, readonly Attack[]])[] {
  const members = listMemberPaths(PLAN_MEMBERS, plan, PLAN);
  const listed = new Set(members.map(toPlaceName));
  const places = Map.groupBy([...listPaths(plan).slice(1), ...members], toPlaceName);
  return [...places].map(([name, paths]) => {
    const path = paths.find((one) => getAt(plan, one) !== undefined) ?? paths[0] ?? [];
    const values = listHostileValues(getAt(plan, path), workspace.folder, listed.has(name));
    return [name, values.map((value) => ({ path, value }))];
  });
}

/** Expects that an apply with an attacked plan file does the usual, or ends before it writes, runs or asks anything. */
async function expectUsual(attack: Attack, attacked: Attacked, { usual, argv, file }: Usual): Promise<number> {
  const { workspace, plan } = attacked;
  await writeFile(join(workspace.folder, file), JSON.stringify(setAt(plan, attack.path, attack.value)));
  const found = await run(argv, attacked);
  const told = `${attack.path.join('.')}: ${JSON.stringify(attack.value)}`;
  if (found.exitCode === 0) expect(found, told).toEqual(usual);
  else {
    expect([3, 5, 6], told).toContain(found.exitCode);
    expect(found, told).toMatchObject({ writes: [], ran: '', asked: [] });
    expect(usual.read, told).toEqual(expect.arrayContaining([...found.read]));
    expect(usual.reads, told).toEqual(expect.arrayContaining([...found.reads]));
  }
  expect(fs.existsSync(join(workspace.folder, 'pwned')), told).toBe(false);
  return found.exitCode;
}

interface Usual {
  readonly usual: Effects;
  readonly argv: readonly string[];
  /** The plan file. */
  readonly file: string;
}

describe('a hostile value in a member of a plan file', () => {
  let attacked: Attacked;
  beforeAll(async () => {
    attacked = await createAttacked();
  });
  afterAll(() => attacked.workspace.remove());

  it('changes nothing of what an apply reads, sends, runs and asks, unless it ends the run before', LONG, async () => {
    const usual = await run(APPLY, attacked);
    expect(usual).toMatchObject({ exitCode: 0, ran: 'agent\n', asked: [expect.any(String)] });
    expect(usual.read.length).toBeGreaterThan(1);
    expect(usual.writes.length).toBeGreaterThan(4);
    const attacks = listAttacks(attacked);
    for (const member of Object.keys(PLAN_MEMBERS))
      expect(attacks.map(([name]) => name)).toContain(`stacks.*.plan.${member}`);
    const ends = new Set<number>();
    for (const attack of attacks.flatMap(([, all]) => all))
      ends.add(await expectUsual(attack, attacked, { usual, argv: APPLY, file: 'plan.json' }));
    expect([...ends].sort()).toEqual([0, 3, 6]);
  });

  it('changes nothing in a folder of plans, where it also chooses no stack', LONG, async () => {
    const { workspace, plan } = attacked;
    const argv = ['apply', '-R', 'm', '--approved', 'plans', '--no-rehearsal'];
    await workspace.write({ 'plans/shop.json': JSON.stringify(plan) });
    const usual = await run(argv, attacked);
    expect(usual).toMatchObject({ exitCode: 0, ran: 'agent\n' });
    const ofPlan = listAttacks(attacked).filter(([name]) => /^[^.]+$|^stacks\.\*\.(?:plan\.)?\w+$/.test(name));
    expect(ofPlan.length).toBeGreaterThan(30);
    for (const attack of ofPlan.flatMap(([, all]) => all.slice(0, 3)))
      await expectUsual(attack, attacked, { usual, argv, file: 'plans/shop.json' });
  });

  it('changes nothing beside hidden values, whose digests are in the plan', LONG, async () => {
    const before = new Set(listAttacks(attacked).map(([name]) => name));
    const hidden = await createAttacked(toRoute);
    try {
      const usual = await run(APPLY, hidden);
      expect(usual).toMatchObject({ exitCode: 0, ran: 'agent\n' });
      const more = listAttacks(hidden).filter(([name]) => !before.has(name));
      expect(JSON.stringify(more)).toMatch(/digest|\$hidden/i);
      for (const attack of more.flatMap(([, all]) => all.slice(0, 1)))
        await expectUsual(attack, hidden, { usual, argv: APPLY, file: 'plan.json' });
    } finally {
      await hidden.workspace.remove();
    }
  });

  it('has no effect on what show and diff read and send', LONG, async () => {
    const { workspace, plan } = attacked;
    const { folder } = workspace;
    await writeFile(join(folder, 'first.json'), JSON.stringify(plan));
    for (const [name, attacks] of listAttacks(attacked))
      for (const { path, value } of attacks) {
        await writeFile(join(folder, 'plan.json'), JSON.stringify(setAt(plan, path, value)));
        for (const argv of [
          ['show', 'plan.json'],
          ['diff', 'first.json', 'plan.json'],
        ]) {
          const found = await run(argv, attacked);
          const told = `${argv[0]} ${name}: ${JSON.stringify(value)}`;
          expect([0, 2, 3], told).toContain(found.exitCode);
          expect(found, told).toMatchObject({ reads: [], writes: [], ran: '', asked: [] });
          expect([join(folder, 'first.json'), join(folder, 'plan.json')], told).toEqual(
            expect.arrayContaining([...found.read]),
          );
        }
      }
    expect(fs.existsSync(join(folder, 'pwned'))).toBe(false);
  });
});
