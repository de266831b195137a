import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { assertDefined } from '../../src/model/errors.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { sendByHand } from '../by-hand.ts';
import { NOW } from '../cli/fake-context.ts';
import { createWorkspace, toTranscript, type Workspace, withoutReads } from '../cli/workspace.ts';
import { getObject } from '../server/caller.ts';
import { SEED } from './seed.ts';
import { INVENTED_KINDS } from './tables.ts';

const MANIFEST = readFileSync(new URL('manifests.yaml', import.meta.url), 'utf8');
const DOOR = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIgWaFLqDdQFyqH7tDdMVOPQkYvUOJsqxY8h6OuHfC9C the keeper\n';
const BUOY = 'water_2k9XLPDYGXNLtxcTVgVsKTFzfRt/buoy_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
const HOUR_MS = 3_600_000;

interface Coast extends Workspace {
  readonly wait: (hours: number) => void;
  /** Another user changes the only resource of a kind. */
  readonly change: (kind: string, body: JsonObject) => Promise<void>;
  /** Returns the output of commands, one after another. */
  readonly show: (...lines: readonly string[]) => Promise<string>;
}

/** The manifests of the invented kinds with a service, and a clock that the test controls. */
async function createInventedWorkspace(manifest = MANIFEST): Promise<Coast> {
  let time = NOW.getTime();
  const now = (): Date => new Date(time);
  const workspace = await createWorkspace({ 'manifests.yaml': manifest, 'door.pub': DOOR }, { now, seed: SEED });
  const wait = (hours: number): void => {
    time += hours * HOUR_MS;
  };
  const edgewise: Workspace['edgewise'] = (line, more) => workspace.edgewise(line, { now, ...more });
  const show = async (...lines: readonly string[]): Promise<string> => {
    const shown: string[] = [];
    for (const line of lines) shown.push(`$ edgewise ${line}\n${toTranscript(await edgewise(line))}`);
    return withoutReads(shown.join('\n'));
  };
  const change: Coast['change'] = async (name, body) => {
    const { path } = assertDefined(
      INVENTED_KINDS.find((kind) => kind.name === name),
      name,
    );
    const [resource] = workspace.server.snapshot().resources[name] ?? [];
    await sendByHand(workspace, 'PATCH', `${path}/${resource?.['id']}`, body);
  };
  return { ...workspace, edgewise, wait, show, change };
}

describe('a resource of an invented kind', () => {
  it('has every field in the manifest of these tests', () => {
    const documents = parseAllDocuments(MANIFEST).map((document) => getObject(document.toJS()));
    for (const kind of INVENTED_KINDS.filter(({ role }) => role !== 'submitted')) {
      const stated = documents.find((document) => document['kind'] === kind.name) ?? {};
      const times = Object.values(kind.validity ?? {});
      const fields = kind.specFields.flatMap(([name]) => (times.includes(name) ? [] : [name]));
      expect(Object.keys(getObject(stated['spec'])).sort()).toEqual(fields.sort());
      expect(Object.keys(getObject(stated['lifecycle'] ?? {})).sort()).toEqual(Object.keys(kind.lifecycle).sort());
    }
  });

  it('is created as planned, reverted after a change by others, renewed in time, and deleted', async () => {
    const { show, change, wait, folder } = await createInventedWorkspace();
    await expect(await show('validate', 'apply --yes', 'plan --detailed-exitcode')).toMatchFileSnapshot(
      'goldens/created.txt',
    );
    expect(await readFile(join(folder, 'words/agnes.token'), 'utf8')).toMatch(/^\w{27}_\w{20}\n$/);
    await change('Lighthouse', { colour: 'green', signalling: { enabled: false }, is_lit: false });
    await expect(await show('drift', 'apply --yes', 'drift')).toMatchFileSnapshot('goldens/reverted.txt');
    wait(11);
    await expect(await show('apply --yes', 'destroy --yes')).toMatchFileSnapshot('goldens/renewed-and-deleted.txt');
  });

  it('is linted', async () => {
    const { edgewise, server } = await createInventedWorkspace();
    await edgewise('apply --yes');
    const transport = async (request: Request): Promise<Response> => {
      const answer = await server.handle(request);
      return new Response((await answer.text()).replaceAll('"condition":null', '"condition":"broken"'), answer);
    };
    const { stdout } = await edgewise('plan', { transport });
    expect(stdout).toContain('warning[resource-unhealthy]: Lighthouse/skerry: its lamp cannot be lit\n');
    expect(stdout).toContain('  help: Send somebody to mend the lamp.\n');
  });

  it('is shown with computed values and without secrets', async () => {
    const { edgewise, show, folder } = await createInventedWorkspace();
    await edgewise('apply --yes');
    const shown = await show(
      'get',
      'get --verbose',
      'get Lighthouse/skerry --format value=colour',
      'get Lighthouse/skerry --format value=condition',
      'get PilotPass/agnes --format value=paper',
      'get --format json',
    );
    await expect(shown).toMatchFileSnapshot('goldens/shown.txt');
    const [, secret = ''] = (await readFile(join(folder, 'words/agnes.token'), 'utf8')).trim().split('_');
    expect(secret).toMatch(/^\w{20}$/);
    expect(shown).not.toContain(secret);
  });

  it('is exported to manifests that adopt it and change nothing', async () => {
    const first = await createInventedWorkspace();
    await first.edgewise('apply --yes');
    const { resources } = first.server.snapshot();
    const free = Object.entries(resources).map(([kind, members]) => [
      kind,
      members.map(({ metadata: _, ...rest }) => rest),
    ]);
    const seed = { ...SEED, resources: Object.fromEntries(free) };
    const { edgewise } = await createWorkspace({}, { now: () => NOW, seed });
    const { stdout, stderr } = await edgewise(`export --modules-of ${BUOY} --owner coast -o account`);
    expect(stdout, stderr).toContain('account/lighthouse/harbour.example.net.yaml');
    const planned = await edgewise('plan account');
    expect(planned.stdout).toMatch(/^0 to delete, 0 to replace, 0 to update, 3 to adopt, 0 to create; 1 unchanged\.$/m);
    await expect((await edgewise('export')).stdout).toMatchFileSnapshot('goldens/exported.yaml');
  });

  it('is reported at its position if it is invalid or probably a mistake', async () => {
    const wrong = MANIFEST.replace('colour: red', 'colour: pink\n  color: red')
      .replace('range: 21', 'range: 41')
      .replace('External/generator: 100', 'TCPEdge/quay: 1')
      .replace('volume: 7', 'volume: loud')
      .replace('{ Flag: blue }', '{ Flag: blue, flag: red }')
      .replace('valid_for: 12h', 'valid_for: a while')
      .replace('file: door.pub', 'file: manifests.yaml');
    await expect(await (await createInventedWorkspace(wrong)).show('validate')).toMatchFileSnapshot(
      'goldens/invalid.txt',
    );
    const odd = MANIFEST.replace('is_lit: true', 'is_lit: false')
      .replace('volume: 7', 'volume: 0')
      .replace('meaning: danger', 'meaning: dangr')
      .replace('ship.flag', 'ship.flags')
      .replace('External/generator: 100', 'External/generator: 0')
      .replace('crew: [agnes, john]', 'crew: [agnes, agnes]');
    await expect(await (await createInventedWorkspace(odd)).show('validate')).toMatchFileSnapshot('goldens/lint.txt');
  });

  it('is explained', async () => {
    const { show } = await createInventedWorkspace();
    const topics = [
      'Lighthouse',
      'Lighthouse.fog_horn.signals',
      'PilotPass.lifecycle.renew_before',
      'Buoy.bell.strikes',
    ];
    await expect(await show(...topics.map((topic) => `explain ${topic}`))).toMatchFileSnapshot('goldens/explained.txt');
  });

  it('is submitted, read and awaited by its own command', async () => {
    const { edgewise, server, show, wait } = await createInventedWorkspace();
    await expect(await show('sighting --help', 'sighting submit --help')).toMatchFileSnapshot('goldens/submitted.txt');
    const { stdout, stderr } = await edgewise('sighting submit whale serpent --seen-by agnes');
    expect(stdout, stderr).toContain(': open, 0 of 2 creatures decided\n');
    const id = /sght_\w{27}/.exec(stdout)?.[0];
    expect((await edgewise(`sighting get ${id}`)).stdout).toBe(stdout);
    const late = await edgewise(`sighting get ${id} --wait --wait-timeout 1s`, { sleep: async () => wait(1) });
    expect(late).toMatchObject({ exitCode: 1, stdout });
    const transport = async (request: Request): Promise<Response> => {
      const answer = await server.handle(request);
      const text = (await answer.text())
        .replace('unknown', 'real')
        .replace('unknown', 'boring')
        .replace('"open"', '"closed"');
      return new Response(text, answer);
    };
    const closed = await edgewise(`sighting get ${id} --wait --format json`, { transport });
    expect(JSON.parse(closed.stdout)).toMatchObject({
      ok: true,
      sighting: { state: 'closed', seen_by: 'agnes', creatures: [{ verdict: 'real' }, { verdict: 'boring' }] },
    });
    expect(await edgewise('sighting submit')).toMatchObject({ exitCode: 3 });
    expect((await edgewise(`sighting submit whale --seen-by ${'x'.repeat(21)}`)).stderr).toContain(
      '--seen_by is 21 bytes',
    );
  });
});
