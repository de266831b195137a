import { describe, expect, it } from 'vitest';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import {
  addMissingPolicyFields,
  createPolicyDeclarations,
  KIND_INDEPENDENT_POLICY_TYPES,
  listFieldsMissingFromVocabulary,
} from '../../src/policy/vocabulary.ts';
import { createResultJsonSchema } from '../../src/schemas/results.ts';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';
import { toPolicyText } from './policy-text.ts';

const RESULT = createResultJsonSchema();

/** The schema at a path of a schema. */
function getSchemaAt(schema: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = path.reduce<Json | undefined>(
    (one, step) => (isJsonObject(one) ? toPart(one)[step] : undefined),
    schema,
  );
  if (!isJsonObject(found)) throw new Error(`nothing at ${path.join('.')}`);
  return toPart(found);
}

/** Resolves a reference. */
function toPart(schema: JsonObject): JsonObject {
  const { $ref } = schema;
  return typeof $ref === 'string' ? getSchemaAt(RESULT, ...$ref.split('/').slice(1)) : schema;
}

const PLAN = getSchemaAt(RESULT, 'properties', 'stacks', 'items', 'properties', 'plan');
const CHANGE = getSchemaAt(PLAN, 'properties', 'changes', 'items', 'properties');

function listNames(schema: JsonObject): readonly string[] {
  const alternatives = [schema['oneOf'], schema['anyOf']].flatMap((one) => (Array.isArray(one) ? one : []));
  const own = isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  return [...new Set([...own, ...alternatives.filter(isJsonObject).map(toPart).flatMap(listNames)])].sort();
}

describe('the variables of expressions', () => {
  it.each([
    ['Danger', getSchemaAt(CHANGE, 'dangers', 'items')],
    ['Difference', getSchemaAt(CHANGE, 'differences', 'items')],
    ['Totals', getSchemaAt(PLAN, 'properties', 'totals')],
    ['Made', getSchemaAt(PLAN, 'properties', 'made')],
  ] as const)('have the names of the JSON of a plan, and no others: %s', (type, schema) => {
    expect(Object.keys(KIND_INDEPENDENT_POLICY_TYPES[type]).sort()).toEqual(listNames(schema));
  });

  it('have the names of a change and a plan, beside the derived ones', () => {
    const computed = { Change: ['name', 'id', 'origin'], Plan: [] };
    expect(Object.keys(KIND_INDEPENDENT_POLICY_TYPES.Change).filter((name) => !Object.hasOwn(CHANGE, name))).toEqual(
      computed.Change,
    );
    expect(
      Object.keys(KIND_INDEPENDENT_POLICY_TYPES.Plan).filter(
        (name) => !Object.hasOwn(getSchemaAt(PLAN, 'properties'), name),
      ),
    ).toEqual(computed.Plan);
  });

  it('have the values of the JSON of the plan', async () => {
    const show = (name: string): string => toPolicyText(name, { require: 'false', message: `\${${name}}` });
    const names = ['after', 'before', 'change', 'plan', 'labels', 'annotations', 'stack', 'now'];
    const edge = toEdge('a', 20001);
    const metadata = 'name: a\n  labels: { team: data }\n  annotations: { note: x }';
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK + edge });
    await edgewise('apply --yes');
    const changed = edge.replace('20001', '20002').replace('name: a', metadata);
    await write({ 'edgewise.yaml': STACK.replace('name: test', 'name: test\n  labels: { tier: one }') + changed });
    await write({ 'rules.yaml': names.map(show).join('') });
    const { stdout } = await edgewise('plan --policies rules.yaml --format json', {
      env: { EDGEWISE_COMMIT: 'c0ffee1' },
    });
    const shown = readOnlyStack(stdout);
    const told = Object.fromEntries(
      shown.violations.map(({ policy, message }: Record<'policy' | 'message', string>) => [
        policy,
        policy === 'now' ? message : JSON.parse(/\{.*\}/.exec(message)?.[0] ?? 'null'),
      ]),
    );
    const [change] = shown.changes;
    const { desired, live, place, labels, annotations, action, kind, address } = change;
    const { mode, baseUrl, totals, made } = shown;
    expect(told['after']).toEqual(desired);
    expect(told['before']).toEqual(live.spec);
    expect(told['change']).toMatchObject({ action, kind, address, place, name: 'a', id: live.id, origin: 'manifest' });
    expect(told['change'].differences).toMatchObject(change.differences);
    expect(told['plan']).toEqual({ mode, baseUrl, targets: [], totals, made });
    expect(made).toMatchObject({ commit: 'c0ffee1' });
    expect([told['labels'], told['annotations']]).toEqual([labels, annotations]);
    expect(told['stack']).toEqual({ name: 'test', labels: { tier: 'one' }, annotations: {} });
    expect(told['now']).toContain(made.at);
  });
});

describe('a value in a case', () => {
  it('has no field that its type lacks, at any depth', () => {
    const change = { address: 'a', dangers: [{ danger: 'delete', depth: 1 }], place: { lines: 1 } };
    expect(listFieldsMissingFromVocabulary('change', KIND_INDEPENDENT_POLICY_TYPES.Change, change)).toEqual([
      'change.dangers.depth',
      'change.place.lines',
    ]);
  });
});

describe('the type of a field in an expression', () => {
  const edge = getKind('TCPEdge');
  const other = {
    ...edge,
    specFields: edge.specFields.map(([name, field]) => [name, { ...field, type: { type: 'boolean' } }] as const),
  } as const;

  it('is that of the kinds, or any if it differs between two kinds', () => {
    expect(createPolicyDeclarations([edge, edge]).types['Spec']).toMatchObject({ description: 'string?' });
    expect(createPolicyDeclarations([edge, other]).types['Spec']).toMatchObject({ description: 'dyn' });
  });
});

describe('an object that lacks fields', () => {
  it('gets the empty value of the type of each, and null where any type is possible', () => {
    expect(addMissingPolicyFields('Difference', { path: 'description' })).toEqual({
      field: '',
      path: 'description',
      from: null,
      to: null,
      origin: '',
      forcesReplace: false,
      isHidden: false,
    });
    const plan = addMissingPolicyFields('Plan', { made: { at: '2026-03-01T12:00:00Z' } });
    expect(plan).toMatchObject({
      targets: [],
      made: { at: '2026-03-01T12:00:00Z', commit: '' },
      totals: { create: 0 },
    });
    expect(addMissingPolicyFields('Stack', {})).toEqual({ name: '', labels: {}, annotations: {} });
  });

  it('keeps each value that it has, also one that is empty, and fills the members of its lists', () => {
    const difference = { from: false, to: 0, path: 'weight' };
    expect(addMissingPolicyFields('Change', { differences: [difference, 'no object'] })).toMatchObject({
      differences: [{ ...difference, field: '' }, 'no object'],
      dangers: [],
      notes: [],
      place: { file: '', line: 0 },
    });
  });
});
