import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import { DOCUMENT_KINDS } from '../../src/schemas/document.ts';
import { createWorkspace } from '../cli/workspace.ts';

/** Another setting of the example takes the place of these. */
const EXCLUDED: Readonly<Record<string, readonly string[]>> = { SSHUserCertificate: ['valid_after', 'valid_until'] };

async function printExample(kind: string): Promise<string> {
  const { edgewise } = await createWorkspace({});
  const { exitCode, stdout, stderr } = await edgewise(`explain ${kind} --example`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

describe('edgewise explain --example', () => {
  it.each(DOCUMENT_KINDS)('prints a whole %s, which validates with no warning', async (kind) => {
    const text = await printExample(kind);
    expect(parse(text)).toMatchObject({ kind });
    const { edgewise } = await createWorkspace({ 'a.yaml': text });
    expect(await edgewise('validate a.yaml --strict')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each(MANIFEST_KINDS)('sets every field of $name, and every lifecycle setting that only it has', async (kind) => {
    const { spec, lifecycle = {} } = parse(await printExample(kind.name));
    const excluded = EXCLUDED[kind.name] ?? [];
    const names = kind.specFields.map(([name]) => name).filter((name) => !excluded.includes(name));
    expect(Object.keys(spec).toSorted()).toEqual(names.toSorted());
    expect(Object.keys(lifecycle)).toEqual(expect.arrayContaining(Object.keys(kind.lifecycle)));
    for (const [name, { type }] of kind.specFields)
      if (type.type === 'object')
        expect(Object.keys(spec[name])).toEqual(expect.arrayContaining([...required(type.fields)]));
  });

  it.each(['', 'no-backend', 'TCPEdge.backend', 'TCPEdge --format json'])('needs one kind: %s', async (words) => {
    const { edgewise } = await createWorkspace({});
    const { exitCode, stderr } = await edgewise(`explain ${words} --example`);
    expect(exitCode).toBe(3);
    if (!words.includes('json')) expect(stderr).toContain('Name a kind, such as edgewise explain TCPEdge --example');
  });
});

/** The names of the fields that a module must have. */
function required(fields: Readonly<Record<string, { readonly required: boolean }>>): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]?.required === true);
}
