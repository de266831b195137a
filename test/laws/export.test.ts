import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLive } from '../../src/client/read-live.ts';
import { type ExportOptions, type ExportResult, exportLive } from '../../src/export/export-live.ts';
import { createFilePerDocument, renderSingleFile } from '../../src/export/layout.ts';
import { createNameFromInstance } from '../../src/export/state-resources.ts';
import { parseTerraformState, type TerraformState } from '../../src/export/terraform-state.ts';
import { isModule, toHyphenated } from '../../src/kinds/kind.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { toAddress } from '../../src/model/address.ts';
import { toDigest } from '../../src/model/json.ts';
import { renderUserMetadata, splitMetadata } from '../../src/model/mark.ts';
import { checkStorableText } from '../../src/model/printable.ts';
import type { DesiredState, LiveResource, LiveState, Spec } from '../../src/model/state.ts';
import { LONG } from '../tries.ts';
import { arbitraryStack } from './arbitrary-manifests.ts';
import { arbitraryText } from './arbitrary-texts.ts';
import { holds } from './properties.ts';
import { STACK_NAME, type TestStack } from './stack.ts';
import { listTouched, loadStack, World } from './world.ts';

const OPTIONS: ExportOptions = { stack: STACK_NAME };

describe('an export of an unmanaged account', () => {
  it('creates manifests whose plan only adopts', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), fc.boolean(), async (stack, isOneText) => {
      const world = await createUnmanaged(stack);
      world.takeRequests();
      const exported = exportLive(await readAccount(world, stack), OPTIONS);
      expect(world.takeRequests().every(({ method }) => method === 'GET')).toBe(true);
      expect(exported.leftOut).toEqual([]);
      const plan = await world.plan(load(exported, isOneText));
      expect(plan.changes.flatMap(({ differences }) => differences)).toEqual([]);
      expect(plan.changes.map(({ address, action }) => [address, action]).sort()).toEqual(
        exported.documents
          .filter(({ kind }) => kind !== 'Stack' && kind !== 'External')
          .map(({ kind, name }) => [toAddress(kind, name), getKind(kind).role === 'owned' ? 'adopt' : 'no-op'])
          .sort(),
      );
    });
    await holds(property, 60);
  });

  it('has the same bytes after an apply', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), async (stack) => {
      const world = await createUnmanaged(stack);
      const first = exportLive(await readAccount(world, stack), OPTIONS);
      await world.migrate(load(first, false));
      const second = exportLive(await readAccount(world, stack), OPTIONS);
      expect(renderSingleFile(second)).toBe(renderSingleFile(first));
      expect(listTouched(await world.plan(load(second, true)))).toEqual([]);
    });
    await holds(property, 40);
  });

  it('keeps the names, the protection and the ignored fields of owned resources', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), fc.nat(7), async (stack, seed) => {
      const world = await createUnmanaged(stack, (index) => (index + seed) % 3 === 0);
      const exported = exportLive(await readAccount(world, stack), OPTIONS);
      const plan = await world.plan(load(exported, true));
      expect(plan.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(plan.changes.flatMap(({ differences }) => differences)).toEqual([]);
      expect(plan.changes.filter(({ action }) => action !== 'adopt' && action !== 'no-op')).toEqual([]);
      expect(plan.writes.every(({ purpose }) => purpose === 'adopt')).toBe(true);
    });
    await holds(property, 40);
  });

  it('adopts the resources of a Terraform state under its names, and changes nothing else', LONG, async () => {
    const property = fc.asyncProperty(
      arbitraryStack(),
      arbitraryStateNames(),
      fc.nat(7),
      async (stack, names, seed) => {
        const world = await createUnmanaged(stack, (index) => (index + seed) % 4 === 0);
        const live = await readAccount(world, stack);
        const all = [...live.resources.values()].flat();
        const inState = all.filter((_, index) => (index + seed) % 3 > 0);
        const state = createTerraformState(inState, names);
        const exported = exportLive(live, { ...OPTIONS, names: state });
        const plan = await world.plan(load(exported, true));
        expect(plan.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(plan.changes.filter(({ action }) => action !== 'adopt' && action !== 'no-op')).toEqual([]);
        expect(plan.changes.flatMap(({ differences }) => differences)).toEqual([]);
        const touched = plan.changes.flatMap(({ action, live }) => (action === 'adopt' ? [live?.id] : [])).sort();
        const unmanaged = inState.filter(({ mark }) => mark === undefined);
        expect(touched).toEqual(unmanaged.map(({ id }) => id).sort());
        for (const instance of state.instances.filter(({ ids }) => unmanaged.some(({ id }) => id === ids['id']))) {
          const document = exported.documents.find(({ text }) => text.includes(`adopt: ${instance.ids['id']}\n`));
          // If several resources would have one name, it gets a suffix, and is shortened for it.
          const name = createNameFromInstance(instance) ?? document?.name ?? '';
          expect(document?.name.startsWith(name.slice(0, 13)), `${document?.name} of ${name}`).toBe(true);
        }
        const rest = all.filter((resource) => resource.mark === undefined && !inState.includes(resource));
        const listed = exported.notes
          .filter(({ title }) => title.startsWith('In the account'))
          .flatMap(({ lines }) => lines);
        expect(listed).toHaveLength(rest.length);
      },
    );
    await holds(property, 40);
  });

  it('adds what no manifest describes, and nothing twice', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), fc.nat(7), fc.boolean(), async (stack, seed, isApplied) => {
      const world = await createUnmanaged(stack);
      const live = await readAccount(world, stack);
      const all = [...live.resources.values()].flat().map(({ id }) => id);
      const only = ['Nothing', ...all.filter((_, index) => (index + seed) % 3 === 0)];
      const first = exportLive(live, { ...OPTIONS, only });
      const described = load(first, false);
      if (isApplied) await world.migrate(described);
      const more = exportLive(await readAccount(world, stack), { ...OPTIONS, described });
      expect(more.documents.filter(({ kind }) => kind === 'Stack')).toEqual([]);
      expect(first.resources + more.resources).toBe(all.length + live.attachments.size);
      const plan = await world.plan(load({ ...more, documents: [...first.documents, ...more.documents] }, true));
      expect(plan.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(plan.changes.flatMap(({ differences }) => differences)).toEqual([]);
      expect(plan.changes.filter(({ action }) => action !== 'adopt' && action !== 'no-op')).toEqual([]);
      expect(plan.changes).toHaveLength(first.resources + more.resources);
    });
    await holds(property, 40);
  });

  it('does not depend on the order of lists and maps', LONG, async () => {
    const property = fc.asyncProperty(arbitraryStack(), fc.nat(99), async (stack, seed) => {
      const world = await createUnmanaged(stack);
      const live = await readAccount(world, stack);
      expect(renderSingleFile(exportLive(rearrange(live, seed), OPTIONS))).toBe(
        renderSingleFile(exportLive(live, OPTIONS)),
      );
    });
    await holds(property, 25);
  });

  it('keeps every text unchanged, whatever it looks like', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHostile(255), arbitraryHostile(3900), async (description, metadata) => {
      const world = new World();
      fc.pre(!metadata.includes('"edgewise"'));
      fc.pre(description !== '<<'); // the merge key of YAML: nothing is stored under it
      const inbound = [
        {
          name: description,
          expressions: [metadata],
          actions: [{ type: 'log', config: { metadata: { [description]: metadata } } }],
        },
      ];
      const rules = { description, metadata, policy: { inbound } };
      await world.call('POST', '/edges/tcp', { ...rules, hostports: ['1.tcp.example.net:1'] });
      const live = await readAccount(world, []);
      const exported = exportLive(live, OPTIONS);
      expect(exported.leftOut).toEqual([]);
      const [edge] = load(exported, true).resources.values();
      // White space at the end of a description has no meaning.
      expect(edge?.spec['description'] ?? '').toBe(description.trimEnd());
      expect(renderSingleFile(exported)).toMatch(/^(?:[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\n)*$/u);
      const plan = await world.plan(load(exported, true));
      expect(plan.changes.map(({ action, differences }) => [action, differences])).toEqual([['adopt', []]]);
    });
    await holds(property, 150);
  });
});

/** An account without marks, as before the first use of edgewise. */
async function createUnmanaged(stack: TestStack, isKept = (_: number) => false): Promise<World> {
  const world = new World();
  await world.migrate(stack);
  for (const kind of OWNED_KINDS)
    for (const [index, { id, metadata }] of (world.resources()[kind.name] ?? []).entries())
      if (!isKept(index))
        await world.call('PATCH', `${kind.path}/${id}`, {
          metadata: renderUserMetadata(splitMetadata(String(metadata)).user),
        });
  return world;
}

async function readAccount(world: World, stack: TestStack): Promise<LiveState> {
  const attached = [...loadStack(stack).resources.values()].filter(({ kind }) => getKind(kind).role === 'attached');
  const attachments = attached.map(({ kind: name, spec }) => {
    const kind = getKind(name);
    const [modules, ids] = [kind.specFields.filter(([, field]) => isModule(field)), kind.specFields];
    return {
      address: toAddress(name, String(spec['id'])),
      kind,
      ids: Object.fromEntries(ids.filter(([, field]) => !isModule(field)).map(([key]) => [key, spec[key] ?? null])),
      modules: modules.map(([key]) => key),
    };
  });
  return readLive(world.connect(), { kinds: OWNED_KINDS, attachments });
}

/** The parts of an address in a state. Keys may be any text. */
interface StateName {
  readonly module: string | undefined;
  readonly name: string;
  readonly key: string | number | undefined;
}

function arbitraryStateNames(): fc.Arbitrary<readonly StateName[]> {
  const word = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,40}$/);
  const name = fc.record({
    module: fc.option(word, { nil: undefined }),
    name: fc.oneof(word, fc.constantFrom('this', 'web', 'WEB', '_')),
    key: fc.oneof(fc.constant(undefined), fc.nat(3), arbitraryText(60)),
  });
  return fc.array(name, { minLength: 1, maxLength: 6 });
}

/** A state file of Terraform with the resources under these names. If there are fewer names, the other resources are left out. */
function createTerraformState(resources: readonly LiveResource[], names: readonly StateName[]): TerraformState {
  const listed = resources.map(({ kind, id }, index) => {
    const { module, name, key } = names[index % names.length] ?? { module: undefined, name: 'x', key: undefined };
    const instance = { ...(key !== undefined && { index_key: key }), attributes: { id, token: 'a secret' } };
    const type = `example_${toHyphenated(kind).replaceAll('-', '_')}`;
    return {
      mode: 'managed',
      type,
      name,
      ...(module !== undefined && { module: `module.${module}` }),
      instances: [instance],
    };
  });
  const other = { mode: 'managed', type: 'other_thing', name: 'x', instances: [{ attributes: { id: 'x' } }] };
  return parseTerraformState(Buffer.from(JSON.stringify({ version: 4, resources: [...listed, other] })));
}

/** Loads the files of an export, in an environment in which every variable would be filled in. */
function load(exported: ExportResult, isOneText: boolean): DesiredState {
  const files = isOneText
    ? [{ path: 'edgewise.yaml', text: renderSingleFile(exported) }]
    : createFilePerDocument(exported);
  const sources = files.map(({ path, text }) => ({ file: path, bytes: Buffer.from(text) }));
  const { state, diagnostics } = validateManifests(sources, {
    env: { variables: { HOME: 'filled in', X: 'filled in' }, offered: ['HOME', 'X'] },
  });
  if (state !== undefined) return state;
  throw new Error(`The export is not valid:\n${diagnostics.map(({ message }) => message).join('\n')}`);
}

function rearrange(live: LiveState, seed: number): LiveState {
  const shuffle = <Each>(members: readonly Each[]) =>
    members
      .map((member, index) => ({ member, rank: toDigest([seed, index]) }))
      .sort((left, right) => (left.rank < right.rank ? -1 : 1))
      .map(({ member }) => member);
  const turn = (resource: LiveResource) => ({ ...resource, spec: reverseMaps(resource) });
  const resources = [...live.resources].map(([kind, members]) => [kind, shuffle(members.map(turn))] as const);
  return { ...live, resources: new Map(shuffle(resources)), attachments: new Map(shuffle([...live.attachments])) };
}

function reverseMaps({ kind, spec }: LiveResource): Spec {
  const maps = getKind(kind).specFields.filter(([, { type }]) => type.type === 'map');
  const turned = maps.map(([name]) => [name, Object.fromEntries(Object.entries(spec[name] ?? {}).toReversed())]);
  return { ...spec, ...Object.fromEntries(turned) };
}

const HOSTILE = [
  '---',
  '...',
  '# no comment',
  'a #b',
  'a: b',
  '%YAML 1.1',
  'no',
  'Yes',
  '1e3',
  '0x1f',
  '0777',
  '1_000',
  '12:30:45',
  '2026-01-01',
  '~',
  'null',
  '.inf',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a variable, as a text
  '${env:X}',
  '$${env:X}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of another syntax
  '${conn.client_ip}',
  '$$${',
  '*alias',
  '&anchor',
  '!tag',
  '|',
  '>-',
  '\n',
  ' ',
  '\t',
  '\r',
  '\u0000',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\u0085',
  '🏴\u{e0067}',
  '{"a":1}',
  '{"n":12345678901234567890}',
  "'",
  '"',
  '\\',
  'word',
];

/** Texts that YAML often reads as another type. */
function arbitraryHostile(maxBytes: number): fc.Arbitrary<string> {
  const pieces = fc.array(fc.constantFrom(...HOSTILE), { maxLength: 8 }).map((parts) => parts.join(''));
  const texts = fc.oneof(
    { weight: 4, arbitrary: pieces.map((text) => text.slice(0, Math.floor(maxBytes / 4))) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
    { weight: 1, arbitrary: arbitraryText(maxBytes) },
  );
  // A service that stores valid Unicode has no other texts.
  return texts.filter((text) => checkStorableText(text) === undefined);
}
