import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FieldType } from '../../src/kinds/field.ts';
import { getKind, KINDS } from '../../src/kinds/tables/registry.ts';
import { parsePath } from '../../src/model/field-path.ts';
import {
  findMember,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  toJsonList,
  toJsonText,
} from '../../src/model/json.ts';
import { renderMetadata, splitMetadata } from '../../src/model/mark.ts';
import { fromFileJson } from '../../src/model/secret-value.ts';
import type { FieldPath } from '../../src/model/state.ts';
import { parsePlan } from '../../src/stack/parse-plan.ts';
import { sendByHand } from '../by-hand.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';

/** An author of manifests, or another user of the account, spells what looks like a hidden value. */

const D = '$';

const TEXTS: readonly string[] = [
  '(hidden 1)',
  '(secret UPSTREAM)',
  '{"$hidden":1}',
  `{"$secret":"${D}{secret:UPSTREAM}"}`,
  '({"$hidden":1})',
  'concealed value 1',
];

/** An expression of a policy must be CEL. */
const EXPRESSIONS: readonly string[] = ['"(hidden 1)" != ""', '{"$hidden": 1} != {}', '(secret)', '(hidden) == 1'];

const OBJECTS: readonly JsonObject[] = [
  { $hidden: 1 },
  { $secret: 'UPSTREAM' },
  { a: { $hidden: 1, real: 'payload' } },
  { a: [{ $secret: `${D}{secret:UPSTREAM}` }] },
  { a: { $$hidden: 1, $$$: { $hidden: 2 } } },
  { a: { template: 'x', number: 1 } },
  { a: '(hidden 1)' },
];

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';
/** An account has one restriction of each type. */
const TYPES = ['dashboard', 'api', 'agent', 'endpoints'];

const LEAST: Readonly<Record<string, (name: string) => JsonObject>> = {
  AgentIngress: (name) => ({ domain: `${name}.agents.example.com` }),
  IPRestriction: (name) => ({ type: TYPES[Number(name.slice(-2))] ?? '', ip_policy_ids: ['ipp_1'] }),
  SSHUserCertificate: () => ({ ssh_certificate_authority_id: 'sshca_1', principals: ['alice'], public_key: KEY }),
};

/** Paths of `description`, and of everything else that is free text, in the tables of the kinds. */
const PLACES = KINDS.filter(({ role }) => role === 'owned').flatMap(({ name, specFields }) =>
  specFields.flatMap(([field, { type }]) => listFreePaths(type, field).map((path) => [name, path] as const)),
);

function listFreePaths(type: FieldType, path: string): readonly string[] {
  switch (type.type) {
    case 'text':
      return type.format === undefined ? [path] : [];
    case 'metadata':
    case 'json':
      return [path];
    case 'list':
      return listFreePaths(type.of, `${path}[0]`);
    case 'map':
      return listFreePaths(type.of, `${path}.force-command`);
    case 'object':
      return Object.entries(type.fields).flatMap(([name, inner]) => listFreePaths(inner.type, `${path}.${name}`));
    default:
      return [];
  }
}

const TOKENS = '--token-directory tokens';

const RULE = { name: 'rule', expressions: ['true'], actions: [{ type: 'log', config: {} }] };

/** A field with the value at this path. */
function createField(path: string, value: Json): JsonObject {
  const [field = '', ...steps] = parsePath(path) ?? [];
  return { [field]: setAt(field === 'policy' ? { inbound: [RULE], outbound: [RULE] } : {}, steps, value) };
}

function setAt(holder: Json, [step, ...steps]: FieldPath, value: Json): Json {
  if (step === undefined) return value;
  if (isJsonArray(holder)) return holder.map((member, at) => (at === step ? setAt(member, steps, value) : member));
  const members = isJsonObject(holder) ? holder : {};
  return { ...members, [step]: setAt(members[step] ?? {}, steps, value) };
}

function findAt(value: Json | undefined, [step, ...steps]: FieldPath): Json | undefined {
  if (step === undefined) return value;
  if (isJsonArray(value)) return findAt(value[Number(step)], steps);
  return isJsonObject(value) ? findAt(value[step], steps) : undefined;
}

const isObjectPlace = (path: string): boolean => path === 'metadata' || path.endsWith('config');

function listValues(path: string): readonly Json[] {
  if (path === 'metadata') return [...TEXTS, ...OBJECTS];
  if (path.includes('expressions')) return EXPRESSIONS;
  // What is below the name of a secret is hidden there.
  return isObjectPlace(path) ? OBJECTS.filter((one) => !JSON.stringify(one).includes('secret')) : TEXTS;
}

/** As a resource has it: metadata that is a text with JSON is read as an object. */
function toRead(path: string, value: Json): Json {
  const parsed = path === 'metadata' && typeof value === 'string' ? parseJson(value) : value;
  return isJsonObject(parsed) ? parsed : value;
}

const toName = (at: number): string => `value${String(at).padStart(2, '0')}`;

function toManifests(kind: string, values: readonly JsonObject[]): string {
  const documents = values.map((spec, at) => toManifest(kind, toName(at), { ...LEAST[kind]?.(toName(at)), ...spec }));
  // In manifests, the text of a placeholder is escaped.
  return STACK + documents.join('').replaceAll(`${D}{secret:`, () => `${D}${D}{secret:`);
}

const read = ({ folder }: Workspace, file: string): string => readFileSync(join(folder, file), 'utf8');

/** Expects that an output for people calls nothing hidden: free text is in quotes, in warnings in those of code. */
function expectNothingHidden(text: string): void {
  expect(text.replace(/"(?:[^"\\]|\\.)*"|`[^`]*`/g, '')).not.toMatch(/\((hidden|secret)/);
}

/** Another user sets the field of each resource, and leaves its mark alone. */
async function editByHand(workspace: Workspace, kind: string, toField: (name: string) => JsonObject): Promise<void> {
  const { path } = getKind(kind);
  const listed = Object.values(await sendByHand(workspace, 'GET', path)).find(isJsonArray) ?? [];
  for (const one of listed) {
    if (!isJsonObject(one)) continue;
    const { mark, user } = splitMetadata(toJsonText(one['metadata']));
    if (mark === undefined) continue;
    const { metadata = user, ...field } = toField(mark.name);
    const text = renderMetadata(isJsonObject(metadata) ? metadata : String(metadata), mark);
    await sendByHand(workspace, 'PATCH', `${path}/${toJsonText(one['id'])}`, { ...field, metadata: text });
  }
}

type Listed = JsonObject & { readonly spec?: JsonObject; readonly live?: { readonly spec?: JsonObject } };

/** The entries of a list in a JSON document, as the document says them. */
function listEntries(text: string, member: string): readonly Listed[] {
  return toJsonList(findMember(fromFileJson(readOnlyStack(text), Error), member)) as readonly Listed[]; // as the schema says
}

describe.each(PLACES)('%s: %s', (kind, path) => {
  const steps = parsePath(path) ?? [];
  const values = listValues(path).slice(0, kind === 'IPRestriction' ? TYPES.length : undefined);
  const expected = values.map((value) => toRead(path, value));
  const listSpecs = (specs: readonly (Json | undefined)[]) => specs.map((spec) => findAt(spec, steps));

  it('of a manifest is what it spells, in each output and at the service', async () => {
    const workspace = await createWorkspace({
      'a.yaml': toManifests(
        kind,
        values.map((one) => createField(path, one)),
      ),
    });
    const { edgewise } = workspace;
    for (const line of [`plan --verbose ${TOKENS}`, `plan --format markdown ${TOKENS}`])
      expectNothingHidden((await edgewise(line)).stdout);
    await edgewise(`plan . -o plan.json ${TOKENS}`);
    const { changes } = parsePlan(read(workspace, 'plan.json'));
    expect(listSpecs(changes.map(({ desired }) => desired ?? null))).toStrictEqual(expected);
    expect(await edgewise(`apply . --approved plan.json --yes ${TOKENS}`)).toMatchObject({
      exitCode: 0,
    });
    const resources = listEntries((await edgewise('get --format json')).stdout, 'resources');
    expect(listSpecs(resources.map(({ spec }) => spec))).toStrictEqual(expected);
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });

  // What is fixed at the service cannot be changed.
  if (getKind(kind).fields[String(steps[0])]?.lifecycle === 'immutable') return;

  it('of a live resource is what it spells, in each output', async () => {
    const plain = isObjectPlace(path) ? { a: 'plain' } : 'plain';
    const workspace = await createWorkspace({
      'a.yaml': toManifests(
        kind,
        values.map(() => createField(path, plain)),
      ),
    });
    const { edgewise } = workspace;
    expect(await edgewise(`apply --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    await editByHand(workspace, kind, (name) => createField(path, values[Number(name.replace('value', ''))] ?? ''));
    for (const line of [`plan ${TOKENS}`, 'drift --verbose']) expectNothingHidden((await edgewise(line)).stdout);
    const changes = listEntries((await edgewise('drift --format json')).stdout, 'changes');
    expect(listSpecs(changes.map(({ live }) => live?.spec))).toStrictEqual(expected);
    expect(await edgewise(`apply --yes ${TOKENS}`)).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan --detailed-exitcode')).toMatchObject({ exitCode: 0 });
  });
});

const FORGED = { a: { $hidden: 1, real: 'payload' } };

it('a policy sees such metadata with one more $, as the JSON of a plan has it', async () => {
  const toPolicy = (require: string): string =>
    toManifest('Policy', 'team', { match: { kinds: ['TCPEdge'] }, require, message: 'no' });
  const manifests = toManifests('TCPEdge', [{ metadata: FORGED }]);
  const same = 'after.metadata.a == {"$$hidden": 1, "real": "payload"}';
  const workspace = await createWorkspace({ 'a.yaml': manifests, 'b.yaml': toPolicy(same) });
  expect(await workspace.edgewise('plan')).toMatchObject({ exitCode: 0 });
  await workspace.write({ 'b.yaml': toPolicy(`!(${same})`) });
  expect(await workspace.edgewise('plan')).toMatchObject({ exitCode: 5 });
});

it('the file of an embedded server has it as it is, and reads it back', async () => {
  const config = { a: { $hidden: 1, $$hidden: 2 } };
  const spec = { ...createField('metadata', FORGED), ...createField('policy.inbound[0].actions[0].config', config) };
  const workspace = await createWorkspace({ 'a.yaml': toManifests('TCPEdge', [spec]) });
  const embedded = { env: { EDGEWISE_BASE_URL: 'embedded:account.json' } };
  expect(await workspace.edgewise('apply --yes', embedded)).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(read(workspace, 'account.json')).resources.TCPEdge[0].policy.inbound[0].actions[0].config).toEqual(
    config,
  );
  expect(await workspace.edgewise('plan --detailed-exitcode', embedded)).toMatchObject({ exitCode: 0 });
});

it('an export of it adopts what is live, and changes nothing', async () => {
  const workspace = await createWorkspace();
  for (const one of OBJECTS) await sendByHand(workspace, 'POST', '/edges/tcp', { metadata: JSON.stringify(one) });
  const { stdout } = await workspace.edgewise('export');
  await workspace.write({ 'a.yaml': `${STACK}---\n${stdout}` });
  const { changes } = readOnlyStack((await workspace.edgewise('plan --format json')).stdout);
  expect(changes).toHaveLength(OBJECTS.length);
  for (const { action, differences } of changes)
    expect({ action, differences }).toEqual({ action: 'adopt', differences: [] });
});
