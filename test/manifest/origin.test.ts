import { expect, test } from 'vitest';
import { findKustomizeOriginFile } from '../../src/manifest/foreign.ts';
import type { JsonObject } from '../../src/model/json.ts';

function toDocument(origin: string): JsonObject {
  return { metadata: { name: 'a', annotations: { 'config.kubernetes.io/origin': origin } } };
}

test.each([
  ['path: ../../base/edge.yaml\n', '../../base/edge.yaml'],
  ['path: "odd: name.yaml"\n', 'odd: name.yaml'],
  ['configuredIn: kustomization.yaml\nconfiguredBy:\n  kind: ConfigMapGenerator\n', 'kustomization.yaml'],
  ['path: edge.yaml\nrepo: https://git.example/infra\nref: v1\n', undefined],
  ['nonsense', undefined],
  ['path:\n', undefined],
])('reads the origin %j as the file %s', (text, file) => {
  expect(findKustomizeOriginFile(toDocument(text))).toBe(file);
});

test.each([null, 'text', [], {}, { metadata: 1 }, { metadata: { annotations: [] } }])(
  'reads no origin from %j',
  (value) => {
    expect(findKustomizeOriginFile(value)).toBeUndefined();
  },
);
