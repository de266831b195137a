import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

/** Holds a run that is over against what always holds. */
export async function checkRun(world: World, run: Run): Promise<void> {
  const { name, result, isDead } = run;
  const accuse = (violation: string): void => world.checker.reportViolation(`${name}: ${violation}`);
  const shown = run.shown();
  for (const secret of [API_KEY, ...world.checker.tokens.values()])
    if (shown.includes(secret)) accuse(`shows a secret: ${secret}`);
  for (const address of run.hasUndetectableFaults ? [] : listTwice(world, run))
    accuse(`made two that bear the mark of ${address}`);
  if (run.isUndisturbed && UNREAD.test(shown)) accuse(`cannot read a list, though nothing goes wrong: ${shown}`);
  if (isOverBudget(run)) accuse(`sends more than ${run.rateLimit}`);
  if (isDead()) return;
  const { exitCode } = await result;
  world.log(`${name}: exits with ${exitCode}`);
  if (exitCode === 70) accuse(`a bug: ${shown}`);
  if (shown.includes('would make changes that it does not show')) accuse(`refuses a plan that nobody edited: ${shown}`);
}

/** What a run says that could not read. */
const UNREAD = /the check for a concurrent apply failed|Not all live resources could be read/;

/** What a rehearsal says of a write, in a report for people. */
const PREDICTED = /\[(?:rehearsal-failed|rejected-write)\]/;

/** Holds what a rehearsal said against what happened: a plan whose rehearsal is clean does not fail where nothing else happens. */
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

function isOverBudget({ sentMs, rateLimit }: Run): boolean {
  const limit = parseRateLimit(rateLimit);
  if (limit === undefined) return false;
  return sentMs.some((timeMs, index) => {
    const later = sentMs[index + limit.requests];
    return later !== undefined && later - timeMs < limit.windowMs;
  });
}

/** What a run made twice, and left so. The next apply would prune it: a run that is told the truth need not come to that. */
function listTwice({ server }: World, { created }: Run): readonly string[] {
  const made = [...mapLiveResources(server)].filter(([id]) => created.has(id));
  const addresses = made.flatMap(([, { kind, resource }]) => {
    const mark = findOurMark(resource);
    return mark === undefined ? [] : [`${mark.stack}: ${toAddress(kind, mark.name)}`];
  });
  return addresses.filter((address, index) => addresses.indexOf(address) !== index);
}

/** The end of a walk: what there has to be, each as `stack: Kind/name`, and the last commands. */
export interface End {
  readonly wanted: readonly string[];
  readonly apply: Run;
  readonly plan: Run;
}

/** Holds what is there in the end against what the manifests ask for. */
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

/** Compares the marked resources with the expected ones: each once, and the token of each credential in its sink. `spared` does not count. */
export function checkMarks(
  world: World,
  { wanted, spared = [] }: Pick<End, 'wanted'> & { readonly spared?: readonly string[] },
): void {
  const { checker } = world;
  const marked = [...mapLiveResources(world.server)].flatMap(([id, { kind, resource }]) => {
    const mark = findOurMark(resource);
    return mark === undefined ? [] : [{ id, mark, address: toAddress(kind, mark.name) }];
  });
  // An old one that retires stays for a while beside the one that replaced it.
  const owned = marked.filter(
    ({ id, address }) => !marked.some((other) => other.mark.retires?.id === id && other.address === address),
  );
  const present = owned.map(({ mark, address }) => `${mark.stack}: ${address}`).filter((one) => !spared.includes(one));
  const [live = '', desired = ''] = [present, wanted].map((list) => list.toSorted().join(', '));
  if (live !== desired)
    checker.reportViolation(`what bears our mark is not what the manifests ask for: ${live}, instead of: ${desired}`);
  const isSpared = (stack: string, address: string): boolean => spared.includes(`${stack}: ${address}`);
  for (const { id, mark, address } of owned.filter((one) => one.address.startsWith(`${CREDENTIAL.name}/`))) {
    if (isSpared(mark.stack, address)) continue;
    if (!mark.delivered) checker.reportViolation(`the token of ${address} counts as not delivered`);
    const file = join(world.folder, 'tokens', `${mark.name}.token`);
    const token = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
    if (token !== checker.tokens.get(id)) checker.reportViolation(`the token file of ${address} is not that of ${id}`);
  }
}

/** Holds a plan of a service that shows everything against the end of a walk: nothing is left to do that a service with habits hid. */
export async function checkPlanOfFullService({ checker }: World, plan: Run): Promise<void> {
  if ((await plan.result).exitCode !== 0)
    checker.reportViolation(`what the service left out hid what is left to do:\n${plan.shown()}`);
}

const COUNTS = 'counts.json';

/** Flags of a plan that says how many requests it took, as a value. */
export const COUNTED = ['--report', `json=${COUNTS}`];

/**
 * Holds what a plan says that it took against what the service saw. Of several stacks that are read together, each says what it would take alone: a
 * page of each kind at least, and no more than all of them.
 */
export function checkCounts({ folder, checker }: World, { name, sentMs }: Run): void {
  const report: CountingReport = JSON.parse(readFileSync(join(folder, COUNTS), 'utf8'));
  const least = report.stacks === undefined ? sentMs.length : OWNED_KINDS.length;
  for (const { requests } of report.stacks?.map((stack) => stack.report) ?? [report]) {
    const { read = 0 } = requests ?? {};
    if (read < least || read > sentMs.length)
      checker.reportViolation(`${name} says that reading took ${read} requests, and the service saw ${sentMs.length}`);
  }
}

/** What a report says of requests: of one stack, or of several. */
interface CountingReport {
  readonly requests?: { readonly read: number };
  readonly stacks?: readonly { readonly report: CountingReport }[];
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

/** The owned resources that a stack asks for, each as `stack: Kind/name`. */
export function listWanted(stack: TestStack, name: string): readonly string[] {
  const owned = stack.filter(({ kind }) => getKind(kind).role === 'owned');
  return owned.map((resource) => `${name}: ${toAddress(resource.kind, resource.name)}`);
}

/** No file has the key, and none but those for tokens a token. */
function checkFiles({ folder, checker }: World): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name, parentPath } of files) {
    const text = readFileSync(join(parentPath, name), 'utf8');
    const secrets = /\.token(\.\d+)?$/.test(name) ? [API_KEY] : [API_KEY, ...checker.tokens.values()];
    for (const secret of secrets)
      if (text.includes(secret)) checker.reportViolation(`${name} holds a secret: ${secret}`);
  }
}
