import { describe, expect, it } from 'vitest';
import { explain, validate } from './explain.ts';

const OWN = `apiVersion: edgewise/v1
kind: External
metadata: { name: office }
spec: { id: ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk }
`;

const OTHERS: readonly (readonly [what: string, text: string])[] = [
  ['a Deployment of Kubernetes', 'apiVersion: apps/v1\nkind: Deployment\nspec: { x: 1 }\n'],
  ['a ConfigMap', `apiVersion: v1\nkind: ConfigMap\ndata: { a: "\${env:NONE}" }\n`],
  [
    'a CRD with a number that is too large',
    'apiVersion: apiextensions.k8s.io/v1\nkind: CRD\nmax: 9223372036854775807\n',
  ],
  ['a repeated key below the header', 'apiVersion: v1\nkind: Secret\ndata: { a: 1, a: 2 }\n'],
  [
    'tags of GitLab and CloudFormation, and a lone one',
    'apiVersion: v1\nkind: Job\na: !reference [b, c]\nd: !Ref e\nf: ! g\n! h: ! { i: ! [] }\n',
  ],
  ['a Kustomization', 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a]\n'],
  ['one of a tool without a dot in its group', 'apiVersion: skaffold/v4beta11\nkind: Config\n'],
  ['one in JSON', '{ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a" } }'],
  ['the values of a chart with a nested kind', 'ingress:\n  kind: Ingress\n  spec: { x: 1 }\nreplicas: 2\n'],
  ['a list of tasks with a nested kind', '- hosts: all\n  tasks: [{ k8s: { kind: Service, apiVersion: v1 } }]\n'],
  [
    'a template that is no YAML',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ include "shop.name" . }}\n',
  ],
  [
    'a template of two documents in a condition',
    '{{- if .Values.on }}\napiVersion: {{ include "api" . }}\nkind: Ingress\n---\napiVersion: v1\nkind: "Service"\n{{- end }}\n',
  ],
  [
    'a template whose first document has directives only',
    '{{- fail "no" }}\n# checks\n---\n{{ range . }}\n  apiVersion: v1\n  kind: Job\n{{ end }}\n',
  ],
  [
    'a test of a chart',
    'suite: a\nset: { b: 1 }\ntests: [{ it: c, asserts: [{ isKind: { of: Job } }, { kind: Job }] }]\n',
  ],
  [
    'a template with a kind that is filled in, below its own',
    '{{- if .on }}\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec:\n  target:\n    apiVersion: {{ .a }}\n    kind: {{ .k }}\n{{- end }}\n',
  ],
  ['a transformer of kustomize', 'apiVersion: builtin\nkind: LabelTransformer\nmetadata: { name: labels }\n'],
  ['a list of their kind', 'apiVersion: v1\nkind: PodList\nitems: [{ apiVersion: v1, kind: Pod }]\n'],
];

const ERRORS: readonly (readonly [what: string, text: string])[] = [
  ['a manifest below another key', 'values:\n  apiVersion: edgewise/v1\n  kind: TCPEdge\n'],
  ['a kind of edgewise below another key', 'values:\n  kind: TCPEdge\n'],
  ['a misspelt header', 'apiversoin: x\nknd: TCPEdge\nmetadta: { name: a, kind: b }\n'],
  ['a misspelt field beside a nested kind', 'spce:\n  hostports: []\n  kind: b\n'],
  ['a template of a manifest', 'apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata:\n  name: {{ name }}\n'],
  ['a template of a manifest with a misspelt apiVersion', 'apiVersion: edgwise/v1\nkind: Edge\nspec: {{ spec }}\n'],
  ['a template whose kind is one of edgewise', 'apiVersion: {{ api }}\nkind: TCPEdge\nspec: {{ spec }}\n'],
  ['a template whose kind is filled in', 'apiVersion: v1\nkind: {{ .kind }}\nspec:\n  kind: Job\n'],
  ['a template of a List', 'apiVersion: v1\nkind: List\nitems:\n  - apiVersion: {{ .a }}\n    kind: {{ .k }}\n'],
  ['a transformer of a kind of edgewise', 'apiVersion: builtin\nkind: TCPEdge\n'],
  ['a template with a document without a header', 'apiVersion: v1\nkind: Job\na: {{ b }}\n---\nspec: {}\n'],
  ['the Chart.yaml of Helm under another name', 'apiVersion: v2\nname: shop\nversion: 1.0.0\n'],
  ['no apiVersion', 'kind: Deployment\nmetadata: { name: a }\n'],
  ['no kind', 'apiVersion: v2\nmetadata: { name: a }\n'],
  ['a kind of edgewise under the apiVersion of Kubernetes', OWN.replace('edgewise/v1', 'v1')],
  ['a kind of edgewise that another tool has too', 'apiVersion: kyverno.io/v1\nkind: Policy\nspec: {}\n'],
  ['a kind of edgewise in another case', 'apiVersion: apps/v1\nkind: tcpedge\n'],
  ...[
    'edgewise/v2',
    'edgewise/v1beta1',
    'edgwise/v1',
    'egdewise/v1',
    'edge-wise/v1',
    'edgewise.io/v1',
    'Edgewise/v1',
  ].map((apiVersion) => [`the apiVersion ${apiVersion}`, `apiVersion: ${apiVersion}\nkind: Deployment\n`] as const),
  ...['apps', 'apps/', 'apps/1', 'apps/v1/x', '/v1', 'v1 ', 'apps /v1', 'v', '""', '1'].map(
    (apiVersion) => [`the apiVersion ${apiVersion}`, `apiVersion: "${apiVersion}"\nkind: Deployment\n`] as const,
  ),
  ['a kind that is no name', 'apiVersion: v1\nkind: "a b"\n'],
  ['two apiVersions', 'apiVersion: edgewise/v1\napiVersion: v1\nkind: Deployment\n'],
  ['two kinds', 'apiVersion: v1\nkind: TCPEdge\nkind: Deployment\n'],
  ['text that is cut off', 'apiVersion: v1\nkind: Deployment\nspec: {\n'],
  ['a merge-conflict marker', 'apiVersion: v1\nkind: Deployment\n<<<<<<< HEAD\na: 1\n=======\n'],
  [
    'a list of another tool with a document of edgewise',
    `apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n  - { apiVersion: edgewise/v1, kind: External }\n`,
  ],
];

describe('the Chart.yaml of Helm', () => {
  it('is skipped and counted', () => {
    const text = 'apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: "2"\n';
    const { diagnostics, ofOthers } = validate({ 'a.yaml': OWN, 'chart/Chart.yaml': text });
    expect({ diagnostics, ofOthers }).toEqual({ diagnostics: [], ofOthers: 1 });
    const meant = validate({ 'a.yaml': OWN, 'chart/Chart.yaml': `${text}spec: { hostports: [] }\n` });
    expect(meant.diagnostics).not.toEqual([]);
  });
});

describe('a document of another tool', () => {
  it.each(OTHERS)('is skipped and counted: %s', (_, text) => {
    const { diagnostics, ofOthers, state } = validate({ 'a.yaml': OWN, 'b.yaml': text });
    expect({ diagnostics, ofOthers }).toEqual({ diagnostics: [], ofOthers: 1 });
    expect(state?.externals.size).toBe(1);
  });

  it('is skipped beside documents of edgewise in one file, and in a List', () => {
    const [[, first = ''] = [], [, second = ''] = []] = OTHERS;
    const list = `apiVersion: v1\nkind: List\nitems:\n  - { apiVersion: v1, kind: Service }\n  - { apiVersion: edgewise/v1, kind: External, metadata: { name: b }, spec: { id: ipp_2k9XLN4QSRa2CXSGdTMwZDWQXjk } }\n`;
    const { diagnostics, ofOthers, state } = validate([first, OWN, second, list].join('---\n'));
    expect({ diagnostics, ofOthers }).toEqual({ diagnostics: [], ofOthers: 3 });
    expect([...(state?.externals.keys() ?? [])]).toEqual(['External/office', 'External/b']);
  });

  it('leaves the errors of the documents beside it', () => {
    const found = explain(`apiVersion: v1\nkind: Service\nx: [\n---\n${OWN}`);
    expect(found[0]).toContain(' yaml-syntax: ');
  });
});

describe('a document that may be one of edgewise is an error', () => {
  it.each(ERRORS)('with %s', (_, text) => {
    const { state, ofOthers, diagnostics } = validate({ 'a.yaml': OWN, 'b.yaml': text });
    expect(diagnostics.map(({ severity }) => severity)).toContain('error');
    expect({ state, ofOthers }).toEqual({ state: undefined, ofOthers: 0 });
  });
});
