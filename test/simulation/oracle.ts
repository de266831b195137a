import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../src/cli/exit-code.ts';
import { listReferences } from '../../src/kinds/references.ts';
import { CREDENTIAL } from '../../src/kinds/tables/credential.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { toAddress } from '../../src/model/address.ts';
import { parseRateLimit } from '../../src/model/stack.ts';
import type { TestStack } from '../laws/stack.ts';
import { toCause } from './predicted-failures.ts';
import type { Repository } from './repository.ts';
import { findOurMark, mapLiveResources } from './request-checker.ts';
import type { Disruptions, Run } from './run-edgewise.ts';
import { API_KEY, type World } from './world.ts';

/** Checks the promises about a run that has ended. */
export async function checkRun(world: World, run: Run): Promise<void> {
  const { name, result, isDead } = run;
  const accuse = (violation: string): void => world.checker.reportViolation(`${name}: ${violation}`);
  const shown = run.shown();
  for (const secret of [API_KEY, ...world.checker.tokens.values()])
    if (shown.includes(secret)) accuse(`shows a secret: ${secret}`);
  for (const address of run.hasUndetectableFaults ? [] : listTwice(world, run))
    accuse(`made two that bear the mark of ${address}`);
  if (run.isUndisturbed && UNREAD.test(shown)) accuse(`cannot read a list, although there is no fault: ${shown}`);
  for (const name of listFilesWith(world, world.checker.wideTokens))
    accuse(`delivers to ${name} the token of a credential that may bind more than was requested`);
  if (isOverBudget(run)) accuse(`sends more than ${run.rateLimit}`);
  if (isDead()) return;
  const { exitCode } = await result;
  world.log(`${name}: exits with ${exitCode}`);
  if (exitCode === 70) accuse(`a bug: ${shown}`);
  if (shown.includes('would make changes that it does not show')) accuse(`refuses a plan that nobody edited: ${shown}`);
}

/** Messages of a run that could not read. */
const UNREAD = /the check for a concurrent apply failed|Not all live resources could be read/;

/** The prediction of a rehearsal about a write, in a report for people. */
const PREDICTED = /\[(?:rehearsal-failed|rejected-write)\]/;

/** Compares the rehearsal with the apply: without disruptions, a plan without findings does not fail. */
export async function checkRehearsal(
  world: World,
  { plan, apply, disruptions }: { readonly plan: Run; readonly apply: Run; readonly disruptions: Disruptions },
): Promise<void> {
  const [planned, applied] = [await plan.result, await apply.result];
  if (applied.exitCode !== EXIT.failed && applied.exitCode !== EXIT.interrupted) return;
  const isPredicted = PREDICTED.test(plan.shown());
  const met = toCause(disruptions);
  world.failures.push({ met, isPredicted });
  if (met === 'nothing else' && !isPredicted)
    world.checker.reportViolation(
      `${apply.name} fails, and its rehearsal (exit ${planned.exitCode}) did not say so:\n${apply.shown()}`,
    );
}

/** Lists the token files that contain one of these tokens. */
function listFilesWith({ folder }: World, tokens: ReadonlySet<string>): readonly string[] {
  const place = join(folder, 'tokens');
  if (tokens.size === 0 || !existsSync(place) || !statSync(place).isDirectory()) return [];
  return readdirSync(place).filter((name) => tokens.has(readFileSync(join(place, name), 'utf8').trim()));
}

function isOverBudget({ sentMs, rateLimit }: Run): boolean {
  const limit = parseRateLimit(rateLimit);
  if (limit === undefined) return false;
  return sentMs.some((timeMs, index) => {
    const later = sentMs[index + limit.requests];
    return later !== undefined && later - timeMs < limit.windowMs;
  });
}

/** Lists resources that a run created twice and did not delete. The next apply prunes them, but a run with correct responses need not leave any. */
function listTwice({ server }: World, { created }: Run): readonly string[] {
  const made = [...mapLiveResources(server)].filter(([id]) => created.has(id));
  const addresses = made.flatMap(([, { kind, resource }]) => {
    const mark = findOurMark(resource);
    return mark === undefined ? [] : [`${mark.stack}: ${toAddress(kind, mark.name)}`];
  });
  return addresses.filter((address, index) => addresses.indexOf(address) !== index);
}

/** The expected state at the end of a walk, each resource as `stack: Kind/name`, and the last commands. */
export interface End {
  readonly wanted: readonly string[];
  readonly apply: Run;
  readonly plan: Run;
}

/** Compares the state at the end with the manifests. */
export async function checkEnd(world: World, end: End): Promise<void> {
  const { checker } = world;
  const [apply, plan] = [await end.apply.result, await end.plan.result];
  if (apply.exitCode !== 0)
    checker.reportViolation(`the last apply exits with ${apply.exitCode}:\n${end.apply.shown()}`);
  if (plan.exitCode !== 0)
    checker.reportViolation(`after the last apply something is left to do:\n${end.plan.shown()}`);
  checkMarks(world, end);
  checkFiles(world);
}

/**
 * Compares the marked resources with the expected ones: each exists once, and the token of each credential is in its sink. Resources in
 * `spared` do not count.
 */
export function checkMarks(
  world: World,
  { wanted, spared = [] }: Pick<End, 'wanted'> & { readonly spared?: readonly string[] },
): void {
  const { checker } = world;
  const marked = [...mapLiveResources(world.server)].flatMap(([id, { kind, resource }]) => {
    const mark = findOurMark(resource);
    return mark === undefined ? [] : [{ id, mark, address: toAddress(kind, mark.name) }];
  });
  // A retiring credential stays for a while beside the one that replaced it.
  const owned = marked.filter(
    ({ id, address }) => !marked.some((other) => other.mark.retires?.id === id && other.address === address),
  );
  const present = owned.map(({ mark, address }) => `${mark.stack}: ${address}`).filter((one) => !spared.includes(one));
  const [live = '', desired = ''] = [present, wanted].map((list) => list.toSorted().join(', '));
  if (live !== desired)
    checker.reportViolation(`the marked resources differ from the manifests: ${live}, instead of: ${desired}`);
  const isSpared = (stack: string, address: string): boolean => spared.includes(`${stack}: ${address}`);
  for (const { id, mark, address } of owned.filter((one) => one.address.startsWith(`${CREDENTIAL.name}/`))) {
    if (isSpared(mark.stack, address)) continue;
    if (!mark.delivered) checker.reportViolation(`the token of ${address} counts as not delivered`);
    const file = join(world.folder, 'tokens', `${mark.name}.token`);
    const token = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
    if (token !== checker.tokens.get(id)) checker.reportViolation(`the token file of ${address} is not that of ${id}`);
  }
}

/** Expects, at the end of a walk, an empty plan from a service that shows every field. */
export async function checkPlanOfFullService({ checker }: World, plan: Run): Promise<void> {
  if ((await plan.result).exitCode !== 0) checker.reportViolation(`an omitted field hid a change:\n${plan.shown()}`);
}

const COUNTS = 'counts.json';

/** Flags of a plan that reports the number of its requests. */
export const COUNTED = ['--report', `json=${COUNTS}`];

/**
 * Compares the number of requests in a plan with the requests that the service received. Each of several stacks that are read together reports
 * the number that it would need alone: at least one page of each kind, and at most all requests.
 */
export function checkCounts({ folder, checker }: World, { name, sentMs }: Run): void {
  const { stacks }: CountingReport = JSON.parse(readFileSync(join(folder, COUNTS), 'utf8'));
  const least = stacks.length === 1 ? sentMs.length : OWNED_KINDS.length;
  for (const { plan } of stacks) {
    const { read = 0 } = plan?.requests ?? {};
    if (read < least || read > sentMs.length)
      checker.reportViolation(`${name} reports ${read} reads, and the service got ${sentMs.length}`);
  }
}

/** The requests in a report of one or of several stacks. */
interface CountingReport {
  readonly stacks: readonly { readonly plan?: { readonly requests?: { readonly read: number } } }[];
}

/** Compares cross-stack references with the live state: each id is that of the resource with the mark. */
export function checkReferences({ server, checker }: World, repository: Repository): void {
  const held = [...mapLiveResources(server)].flatMap(([id, { kind, resource }]) => {
    const mark = findOurMark(resource);
    return mark === undefined ? [] : [{ id, resource, mark, address: toAddress(kind, mark.name) }];
  });
  for (const { name: stack, members } of repository)
    for (const { kind, name, spec } of members) {
      const user = held.find(({ mark, address }) => mark.stack === stack && address === toAddress(kind, name));
      for (const { value } of listReferences(getKind(kind), spec)) {
        const used = held.find(({ address }) => address === value);
        if (user !== undefined && used !== undefined && !JSON.stringify(user.resource).includes(`"${used.id}"`))
          checker.reportViolation(`${stack}: ${user.address} does not refer to ${value}, which is ${used.id}`);
      }
    }
}

/** Lists the owned resources in the manifests of a stack, each as `stack: Kind/name`. */
export function listWanted(stack: TestStack, name: string): readonly string[] {
  const owned = stack.filter(({ kind }) => getKind(kind).role === 'owned');
  return owned.map((resource) => `${name}: ${toAddress(resource.kind, resource.name)}`);
}

/** Expects that no file has the key, and only token files have a token. */
function checkFiles({ folder, checker }: World): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name, parentPath } of files) {
    const text = readFileSync(join(parentPath, name), 'utf8');
    const secrets = /\.token(\.\d+)?$/.test(name) ? [API_KEY] : [API_KEY, ...checker.tokens.values()];
    for (const secret of secrets)
      if (text.includes(secret)) checker.reportViolation(`${name} contains a secret: ${secret}`);
  }
}
