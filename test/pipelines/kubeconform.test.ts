import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { LIST_MEMBER_KINDS } from '../../src/schemas/document.ts';
import { createManifestJsonSchema } from '../../src/schemas/manifest.ts';
import { describeWith, runTool } from './tools.ts';

describeWith(['kubeconform'], 'kubeconform with the schemas of each kind', () => {
  it('accepts every example', async () => {
    const { output, found } = await check('examples/quickstart', 'examples/everything', 'examples/policies');
    expect(found.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...LIST_MEMBER_KINDS]));
    expect(
      found.filter(({ status }) => status !== 'statusValid'),
      output,
    ).toEqual([]);
  });

  it.each(LIST_MEMBER_KINDS)('refuses a %s with an unknown field', async (kind) => {
    const { found } = await checkText({ kind, metadata: { name: 'a' }, spec: { hostport: [] } });
    expect(found).toEqual([expect.objectContaining({ kind, name: 'a', status: 'statusInvalid' })]);
    expect(found[0]?.msg).toContain("additional properties 'hostport' not allowed");
  });

  it.each([
    ['TCPEdge', { hostports: ['a.example.net:65536'] }, 'does not match pattern'],
    ['TCPEdge', { hostports: ['a.example.net:65535'] }, ''],
    ['TCPEdge', { policy: { inbound: [{ actions: [{ type: 'denny' }] }] } }, ''],
    ['SSHUserCertificate', { principals: ['a b'] }, 'does not match pattern'],
    ['WeightedBackend', { backends: { bkdhr_1: 10_001 } }, 'maximum'],
  ])('reports of a %s with %o: %s', async (kind, spec, expected) => {
    const required = { ssh_certificate_authority_id: 'sshca_1', public_key: 'ssh-ed25519 AAAA' };
    const whole = kind === 'SSHUserCertificate' ? { ...required, ...spec } : spec;
    const { found } = await checkText({ kind, metadata: { name: 'a' }, spec: whole });
    expect(found[0]?.msg ?? '').toContain(expected);
    expect(found[0]?.status).toBe(expected === '' ? 'statusValid' : 'statusInvalid');
  });
});

interface Finding {
  readonly kind: string;
  readonly name: string;
  readonly status: string;
  readonly msg: string;
}

function checkText(manifest: object): ReturnType<typeof check> {
  const folder = createFolder();
  writeFileSync(join(folder, 'a.yaml'), stringify({ apiVersion: 'edgewise/v1', ...manifest }));
  return check(folder);
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-kubeconform-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function check(
  ...paths: readonly string[]
): Promise<{ readonly output: string; readonly found: readonly Finding[] }> {
  const schemas = createFolder();
  for (const kind of LIST_MEMBER_KINDS)
    writeFileSync(join(schemas, `${kind.toLowerCase()}.json`), JSON.stringify(createManifestJsonSchema(kind)));
  const location = join(schemas, '{{.ResourceKind}}.json');
  const args = ['-strict', '-verbose', '-output', 'json', '-schema-location', location, ...paths];
  const { output } = await runTool('kubeconform', args);
  return { output, found: JSON.parse(output).resources };
}
