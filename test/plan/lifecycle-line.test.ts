import { expect, it } from 'vitest';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import type { DesiredResource, DesiredState } from '../../src/model/state.ts';
import { describeLifecycleLineToAdd } from '../../src/plan/duplicates.ts';

const STACK = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: s }\n---\n';
const HEAD = 'apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: a }\n';
const JSON_HEAD = '{ "apiVersion": "edgewise/v1", "kind": "Credential", "metadata": { "name": "a" }';

function read(text: string): DesiredState | undefined {
  const bytes = new TextEncoder().encode(STACK + text);
  return validateManifests([{ file: 'm.yaml', bytes }], { env: NO_ENVIRONMENT }).state;
}

function getResource(text: string): DesiredResource {
  const [resource] = read(text)?.resources.values() ?? [];
  if (resource === undefined) throw new Error(`Not valid: ${text}`);
  return resource;
}

/** Inserts the line of the remedy, at the end of a block or after the named brace. */
function insertRemedyLine(text: string, remedy: string): string {
  const [where = '', line = ''] = remedy.split('\n');
  if (!where.includes('after the {'))
    return where.includes('its lifecycle') ? text.replace(/(lifecycle:\n)( +)/, `$1$2${line}\n$2`) : `${text}${line}\n`;
  return text.replace(where.includes('its lifecycle') ? /(lifecycle"?: \{)/ : /^(\{)/, `$1 ${line}`);
}

const DOCUMENTS: readonly (readonly [name: string, text: string])[] = [
  ['a document of lines', HEAD],
  ['a lifecycle of lines', `${HEAD}lifecycle:\n  protect: true\n`],
  ['a lifecycle in braces', `${HEAD}lifecycle: { protect: true }\n`],
  ['an empty lifecycle in braces', `${HEAD}lifecycle: {}\n`],
  ['a document in JSON', `${JSON_HEAD} }\n`],
  ['a document in JSON with a lifecycle', `${JSON_HEAD}, "lifecycle": { "protect": true } }\n`],
];

it.each(DOCUMENTS)('is valid as it is printed, in %s', (_, text) => {
  const remedy = describeLifecycleLineToAdd(getResource(text), { name: 'adopt', value: 'cr_1' });
  const pasted = insertRemedyLine(text, remedy);
  expect(getResource(pasted).lifecycle, `${remedy}\n${pasted}`).toMatchObject({
    adopt: 'cr_1',
    protect: text.includes('protect'),
  });
});

it.each(DOCUMENTS)('names the stack of a hand-over, in %s', (_, text) => {
  const value = { stack: 'network', name: 'old' };
  const remedy = describeLifecycleLineToAdd(getResource(text), { name: 'renamed_from', value });
  const pasted = insertRemedyLine(text, remedy);
  expect(getResource(pasted).lifecycle.takenFrom, `${remedy}\n${pasted}`).toEqual(value);
});
