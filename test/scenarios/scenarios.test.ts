import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { hideVersion } from '../hide-version.ts';
import { countReads, findOtherReads, readDocuments } from './reads.ts';
import { listScenarios, runScenario, type ScenarioResult, type ServiceState } from './scenario.ts';
import { toMark } from './service.ts';
import { toSubjects } from './setup.ts';
import { type Omission, toActions, toRequests, toTranscript } from './transcript.ts';

describe.for(listScenarios().map(({ name, folder }) => [name, folder] as const))('%s', ([name, folder]) => {
  let played: ScenarioResult;
  beforeAll(async () => {
    played = await runScenario({ name, folder });
  });

  it('is planned and applied as written', async () => {
    const { setup, plan, markdown, apply, again } = played;
    const omission = findOtherReads(played, await readManifests());
    const acts = [plan, apply, ...(again === undefined ? [] : [again])] as const;
    await expect(toRequests(acts, omission)).toMatchFileSnapshot(join(folder, 'requests.txt'));
    if (setup.texts === true) await expectTexts(omission);
    else await expect(toActions(acts)).toMatchFileSnapshot(join(folder, 'actions.txt'));
    const comment = markdown?.stdout.replace(/(?<=Reading took )\d+/g, '…');
    if (comment !== undefined) await expect(hideVersion(comment)).toMatchFileSnapshot(join(folder, 'plan.md'));
    const shown = acts.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    for (const text of setup.shows ?? []) expect(shown).toContain(text);
  });

  it('keeps no golden that no test compares', () => {
    const { setup, again, markdown } = played;
    const texts = ['plan.txt', 'apply.txt', ...(again === undefined ? [] : ['again.txt'])];
    const compared = [
      ...(setup.texts === true ? texts : ['actions.txt']),
      ...(markdown === undefined ? [] : ['plan.md']),
    ];
    const kept = ['plan.txt', 'apply.txt', 'again.txt', 'actions.txt', 'plan.md'].filter((file) =>
      existsSync(join(folder, file)),
    );
    expect(kept.toSorted()).toEqual(compared.toSorted());
  });

  it('explains itself in its first lines', async () => {
    const file = existsSync(join(folder, 'live.yaml')) ? 'live.yaml' : 'manifest.yaml';
    expect(await readFile(join(folder, file), 'utf8')).toMatch(/^# .{40}/);
  });

  it('is planned with the fewest reads, and reads only', async () => {
    const { plan, finalPlan, setup } = played;
    const methods = [...plan.requests, ...finalPlan.requests].map(({ method }) => method);
    expect(methods.filter((method) => method !== 'GET')).toEqual([]);
    expect(plan.requests, setup.reads?.why).toHaveLength(countReads(played, await readManifests()));
  });

  it('shows how many reads it took', () => {
    const { plan, finalPlan } = played;
    for (const { stdout, requests } of [plan, finalPlan]) {
      const [, said = requests.length] = /\bReading took (\d+) requests?[;.]/.exec(stdout) ?? [];
      expect(Number(said)).toBe(requests.length);
    }
  });

  it('ends with nothing to do, or says why not', () => {
    const { setup, finalPlan } = played;
    const isDone = finalPlan.exitCode === 0 && /^Nothing to do|^\d+ stacks below stacks\.$/m.test(finalPlan.stdout);
    expect(isDone, setup.diverges ?? finalPlan.stdout).toBe(setup.diverges === undefined);
  });

  it('shows neither the key nor a token', () => {
    const { plan, apply, again, finalPlan, files } = played;
    const acts = [plan, apply, finalPlan, ...(again === undefined ? [] : [again])];
    const shown = [...acts.map((act) => JSON.stringify(act)), files.get('plan.json') ?? ''].join('\n');
    const tokens = [...files].filter(([file]) => file.endsWith('.token')).map(([, text]) => text.trim());
    for (const secret of ['api-key-of-the-pipeline', ...tokens]) expect(shown).not.toContain(secret);
  });

  it('changes nothing without its mark', async () => {
    const { holdings } = played;
    const manifests = await readManifests();
    const adopted = new Set(manifests.map(({ lifecycle }) => isJsonObject(lifecycle) && lifecycle['adopt']));
    const names = new Set(manifests.map(({ metadata }) => toName(metadata)));
    const words = played.setup.words ?? [];
    const isTaken = ({ metadata }: JsonObject) => {
      const { stack = '', name = '' } = toMark(metadata) ?? {};
      return words.includes('--allow-take-over') && words.includes(String(stack)) && names.has(String(name));
    };
    const stacks = manifests.filter(({ kind }) => kind === 'Stack').map(({ metadata }) => toName(metadata));
    const unowned = listUnowned(holdings.beforeApply, new Set(stacks)).filter(
      (resource) => !adopted.has(String(resource['id'])) && !isTaken(resource),
    );
    const end = new Map([...holdings.end.values()].flat().map((resource) => [resource['id'], resource]));
    expect(unowned.map(({ id }) => end.get(id ?? ''))).toEqual(unowned);
  });

  async function expectTexts(omission: Omission): Promise<void> {
    const { plan, apply, again } = played;
    const inPlan = { act: plan, file: 'plan.txt' };
    await expect(toTranscript(plan, omission)).toMatchFileSnapshot(join(folder, 'plan.txt'));
    await expect(toTranscript(apply, omission, inPlan)).toMatchFileSnapshot(join(folder, 'apply.txt'));
    if (again !== undefined) await expect(toTranscript(again, omission)).toMatchFileSnapshot(join(folder, 'again.txt'));
  }

  async function readManifests(): Promise<readonly JsonObject[]> {
    const { paths } = toSubjects(played.setup, folder);
    return readDocuments(paths.map((path) => join(existsSync(join(folder, path)) ? folder : ROOT, path)));
  }
});

const ROOT = new URL('.', import.meta.url).pathname;

function toName(metadata: Json | undefined): Json | undefined {
  return metadata !== undefined && isJsonObject(metadata) ? metadata['name'] : undefined;
}

/** Lists the resources of other stacks, and those without a mark. HTTPS edges and routes have no mark. */
function listUnowned(holdings: ServiceState, stacks: ReadonlySet<Json | undefined>): readonly JsonObject[] {
  return [...holdings]
    .filter(([kind]) => !kind.startsWith('HTTPS'))
    .flatMap(([, resources]) => resources)
    .filter(({ metadata }) => !stacks.has(toMark(metadata)?.['stack'] ?? ''));
}
