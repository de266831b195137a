import { describe, expect, it } from 'vitest';
import { lintManifests } from '../../src/lint/lint.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { createWorkspace, STACK } from '../cli/workspace.ts';
import { validate } from '../manifest/explain.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

function lint(manifest: string): readonly Diagnostic[] {
  const { state, diagnostics } = validate(`apiVersion: edgewise/v1\n${manifest}`);
  expect(diagnostics).toEqual([]);
  return state === undefined ? [] : lintManifests(state, { now: NOW });
}

const lintMetadata = (members: string): readonly Diagnostic[] =>
  lint(`kind: TCPEdge\nmetadata: { name: it }\nspec: { backend: { backend_id: bkdhr_a }, metadata: { ${members} } }\n`);
const toRoute = (value: string): string =>
  `apiVersion: edgewise/v1\nkind: HTTPSEdgeRoute\nmetadata: { name: it }\nspec: { id: edghtsrt_a, edge_id: edghts_a, request_headers: { add: { x-api-key: "${value}" } } }\n`;

describe('a value that another tool should have replaced', () => {
  it.each([
    ['"ENC[AES256_GCM,data:abc,iv:x,tag:y,type:str]"', 'sops'],
    ['"ENC[PKCS7,MIIB]"', 'hiera-eyaml'],
    ['"<path:secret/data/shop#host>"', 'argocd-vault-plugin'],
    ['"ref+vault://secret/shop#/host"', 'vals'],
    ['"op://vault/shop/host"', '1Password'],
    ['"on $(ENVIRONMENT)"', 'Azure Pipelines'],
    ['"{{ .Values.host }}"', 'Helm'],
    ['"#{Host}#"', 'Replace Tokens'],
  ])('is an error that names the tool, in values and keys: %s, %s', (text, tool) => {
    const expected = { code: 'unfilled-value', severity: 'error', message: expect.stringContaining(tool) };
    expect(lintMetadata(`a: [${text}]`)).toMatchObject([expected]);
    expect(lintMetadata(`${text}: a`)).toMatchObject([expected]);
  });

  it.each(['"ENC[a]"', '"<a path>"', '"a ref + b"', '"http://shop/host"', '"(a|b)$($|c)"', '"{ a }"', '"# {a}"'])(
    'is another text: %s',
    (text) => expect(lintMetadata(`a: ${text}`)).toEqual([]),
  );

  it('is no secret in plain text, and is not quoted', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK });
    const validateHeader = async (value: string): Promise<string> => {
      await write({ 'route.yaml': toRoute(value) });
      const { stdout, stderr } = await edgewise('validate .');
      return stdout + stderr;
    };
    const unfilled = await validateHeader('ENC[AES256_GCM,data:abcdefgh,type:str]');
    expect(unfilled).toMatch(/error\[unfilled-value\].*sops/);
    expect(unfilled).not.toMatch(/abcdefgh|secret-in-manifest/);
    expect(await validateHeader('abcdefgh')).toContain('warning[secret-in-manifest]');
  });
});

describe('an annotation with which another tool keeps a resource', () => {
  const lintAnnotated = (annotation: string, rest = ''): readonly Diagnostic[] =>
    lint(
      `kind: TCPEdge\nmetadata: { name: it, annotations: { ${annotation} } }\nspec: { backend: { backend_id: bkdhr_a } }\n${rest}`,
    );

  it.each([
    ['helm.sh/resource-policy: keep', 'Helm'],
    ['argocd.argoproj.io/sync-options: "Validate=false,Prune=false"', 'Argo CD'],
    ['argocd.argoproj.io/sync-options: Delete=false', 'Argo CD'],
    ['kustomize.toolkit.fluxcd.io/prune: disabled', 'Flux'],
  ])('is a warning that names lifecycle.protect: %s', (annotation, tool) => {
    const remedy = expect.stringContaining('lifecycle.protect: true');
    const expected = {
      code: 'kept-by-annotation',
      severity: 'warning',
      message: expect.stringContaining(tool),
      remedy,
    };
    expect(lintAnnotated(annotation)).toMatchObject([expected]);
    expect(lintAnnotated(annotation, 'lifecycle: { protect: true }\n')).toEqual([]);
  });

  it.each(['helm.sh/resource-policy: delete', 'argocd.argoproj.io/sync-options: Prune=true', 'a: keep'])(
    'is another one: %s',
    (annotation) => expect(lintAnnotated(annotation)).toEqual([]),
  );
});
