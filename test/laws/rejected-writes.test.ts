import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-code.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { toAddress } from '../../src/model/address.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';
import { createDependentResource } from '../simulation/other-user.ts';
import { createRandom, type SeededRandom } from '../simulation/random.ts';
import { LINKED_KINDS } from '../simulation/repository.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { listKnownIds } from './known-ids.ts';
import type { SharedService } from './other-user.ts';
import { holds } from './properties.ts';
import { renderStack } from './render-stack.ts';
import type { TestStack } from './stack.ts';

const OPTIONS = { kinds: LINKED_KINDS, minResources: 2, maxResources: 6 };
const HISTORY = fc.tuple(arbitraryHistory(1, OPTIONS), fc.nat()).map(([[first = [], second = []], seed]) => ({
  first,
  second,
  seed,
}));

/** A rehearsal predicts a rejected write if that follows from what was read. All other writes can be applied. */
describe('a resource that others use and that has no manifest', () => {
  it('is expected to be rejected, is rejected, and fails alone', LONG, async () => {
    const property = fc.asyncProperty(HISTORY, async (history) => {
      const { edgewise, used, consent } = await createUsedResources(history);
      if (used === undefined) return;
      const plan = await edgewise(`plan --format json ${consent}`);
      expect(plan).toMatchObject({ exitCode: EXIT.refused });
      expect(listPredictedRejections(plan.stdout)).toEqual([used]);
      const applied = await edgewise(`apply --yes --format json ${consent} --allow-rejected ${used}`);
      expect(applied).toMatchObject({ exitCode: EXIT.failed });
      expect(listFailedResources(applied.stdout)).toEqual([used]);
    });
    await holds(property, 60);
  });

  it('prevents no other write if --exclude names it', LONG, async () => {
    const property = fc.asyncProperty(HISTORY, async (history) => {
      const { edgewise, used, consent } = await createUsedResources(history);
      if (used === undefined) return;
      const line = `--exclude ${used} ${consent}`;
      expect(await edgewise(`plan -o plan.json ${line}`)).toMatchObject({ exitCode: EXIT.success });
      const applied = await edgewise(`apply --approved plan.json --yes --token-directory tokens ${line}`);
      expect(applied).toMatchObject({ exitCode: EXIT.success });
      const left = await edgewise(`plan --detailed-exitcode --format json ${line}`);
      expect(left).toMatchObject({ exitCode: EXIT.success });
      const { diagnostics } = readOnlyStack(left.stdout);
      const codes = diagnostics.filter(({ code }: JsonObject) => code === 'left-out');
      expect(codes.map(({ address }: JsonObject) => address)).toEqual([used]);
    });
    await holds(property, 40);
  });

  it('is rejected as expected, whatever the service does not show', LONG, async () => {
    const property = fc.asyncProperty(HISTORY, async (history) => {
      const { edgewise, recorder, consent } = await createUsedResources(history);
      const transport = createRandomlyOmittingService(recorder.transport, createRandom(`hide ${history.seed}`));
      const plan = await edgewise(`plan -o plan.json --format json ${consent}`, { transport });
      if (plan.exitCode !== EXIT.refused) return;
      const predicted = listPredictedRejections(plan.stdout);
      const allowed = predicted.map((address) => `--allow-rejected ${address}`).join(' ');
      const line = `apply --yes --no-rehearsal --format json ${consent} ${allowed}`;
      const applied = await edgewise(line, { transport });
      expect(listFailedResources(applied.stdout)).toEqual(expect.arrayContaining([...predicted]));
    });
    await holds(property, 60);
  });
});

/** A stack that was applied and then changed. Other users now refer to some removed resources. */
async function createUsedResources({
  first,
  second,
  seed,
}: {
  readonly first: TestStack;
  readonly second: TestStack;
  readonly seed: number;
}): Promise<Workspace & { readonly used: string | undefined; readonly consent: string }> {
  const workspace = await createWorkspace({ 'edgewise.yaml': toText(first) }, { seed: { externals: listKnownIds() } });
  const { exitCode } = await workspace.edgewise('apply --yes --no-rehearsal');
  const others = { service: toShared(workspace), chance: createRandom(`use ${seed}`) };
  // The other users do not claim a unique value: then the service would reject the write.
  const used = exitCode === EXIT.success ? await createDependentResource(others).catch(() => undefined) : undefined;
  const isUsed = ({ kind, name }: TestStack[number]): boolean => toAddress(kind, name) === used;
  const isGone = used !== undefined && !second.some(isUsed);
  const rest = isGone ? second : first.filter((one) => !isUsed(one));
  // References to the deleted resource would be refused before the rehearsal.
  const isWhole = !JSON.stringify(rest).includes(`"${used}"`);
  await workspace.write({ 'edgewise.yaml': toText(isWhole ? rest : []) });
  const addresses = [...first, ...second].flatMap(({ kind, name }) => ['--allow-protected', toAddress(kind, name)]);
  return { ...workspace, used, consent: ['--allow-deletes', ...addresses].join(' ') };
}

function toText(stack: TestStack): string {
  return renderStack(stack)
    .map(({ bytes }) => Buffer.from(bytes).toString())
    .join('---\n');
}

function toShared({ server }: Workspace): SharedService {
  return {
    resources: () => server.snapshot().resources,
    call: (method, path, body) => sendByHand({ server }, method, path, body),
  };
}

function listPredictedRejections(stdout: string): readonly string[] {
  const { violations } = readOnlyStack(stdout);
  return violations.flatMap(({ rule, addresses }: JsonObject) => (rule === 'rejected-write' ? addresses : []));
}

/** The resources of failed writes, each once. */
function listFailedResources(stdout: string): readonly string[] {
  const outcomes: readonly JsonObject[] = readOnlyStack(stdout).outcomes;
  const undone = outcomes.filter(({ outcome }) => outcome !== 'applied').map(({ write }) => String(write));
  return [...new Set(undone.map((id) => id.split(' ').at(-1) ?? id))];
}

/** A service that leaves out empty values of some resources, and some fields always. */
function createRandomlyOmittingService(inner: Transport, chance: SeededRandom): Transport {
  const never = new Set(OWNED_KINDS.flatMap(({ fields }) => Object.keys(fields)).filter(() => chance.isLucky(0.1)));
  return async (request) => {
    const response = await inner(request);
    const key = OWNED_KINDS.find(({ path }) => new URL(request.url).pathname === path)?.listKey;
    if (request.method !== 'GET' || key === undefined || !response.ok) return response;
    const page: JsonObject = JSON.parse(await response.text());
    const list = page[key];
    const members = list !== undefined && isJsonArray(list) ? list.filter(isJsonObject) : [];
    return Response.json({ ...page, [key]: members.map((member) => withoutEmptyFields(member, never, chance)) });
  };
}

function withoutEmptyFields(resource: JsonObject, never: ReadonlySet<string>, chance: SeededRandom): JsonObject {
  const shown = Object.entries(resource).filter(
    ([name, value]) => IDENTITY.has(name) || (!never.has(name) && !(isEmpty(value) && chance.isLucky(0.5))),
  );
  return Object.fromEntries(shown);
}

const IDENTITY: ReadonlySet<string> = new Set(['id', 'uri', 'created_at', 'metadata']);

function isEmpty(value: Json): boolean {
  if (isJsonArray(value)) return value.length === 0;
  return value === null || value === '' || value === false || (isJsonObject(value) && Object.keys(value).length === 0);
}
