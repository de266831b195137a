import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isFileOfOtherTool } from '../../src/manifest/load.ts';

const FOREIGN: readonly (readonly [name: string, text: string])[] = [
  ['package.json', '{ "name": "shop", "version": "1.0.0", "scripts": { "plan": "edgewise plan" } }'],
  [
    'package-lock.json',
    '{ "name": "shop", "lockfileVersion": 3, "packages": { "node_modules/kind": { "spec": "1" } } }',
  ],
  ['tsconfig.json', '{\n  // a comment\n  "compilerOptions": { "strict": true, }\n}\n'],
  ['eslint.json', '[{ "rules": {} }]'],
  ['renovate.json', '{}'],
  ['docker-compose.yml', 'services:\n  web:\n    image: nginx\n'],
  ['pnpm-lock.yaml', "lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n"],
  ['mkdocs.yml', 'site_name: Shop\nnav:\n  - index.md\n'],
  ['values.yaml', '# values\nreplicas: 3\nimage: { tag: v1 }\n'],
  ['playbook.yaml', '- hosts: all\n  tasks: []\n'],
  ['plan.json', '{ "format": 2, "changes": [], "writes": [] }'],
  ['account.json', '{ "resources": {}, "sequence": 0 }'],
];

const MAYBE_MANIFESTS: readonly (readonly [what: string, name: string, text: string | Buffer])[] = [
  ['one without its kind', 'a.yaml', 'apiVersion: edgewise/v1\nmetadata: { name: a }\n'],
  ['one with nothing but its spec', 'a.yaml', 'spec:\n  hostports: []\n'],
  ['fields in another case', 'a.yaml', 'ApiVersion: edgewise/v1\nKind: TCPEdge\n'],
  ['one in braces', 'a.yaml', '{apiVersion: edgewise/v1, kind: Stack, metadata: {name: a}}'],
  ['one with quotes', 'a.yaml', '"apiVersion": edgewise/v1\n'],
  ['a second document that is one', 'a.yaml', 'services: {}\n---\nkind: Stack\n'],
  ['one of another tool that is like it', 'a.yaml', 'apiVersion: v1\nkind: Service\n'],
  ['JSON with a mistake in it', 'a.json', '{ "apiVersion": "edgewise/v1", "kind": "Stack" '],
  ['a list of JSON of which one is', 'a.json', '[{ "name": "a" }, { "kind": "Stack" }]'],
  ['one that was cut off', 'a.yaml', 'apiVer'],
  ['one that was emptied', 'a.yaml', ''],
  ['comments', 'a.yaml', '# nothing: yet\n'],
  ['bytes that are not text', 'a.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff])],
];

describe('the files of a folder', () => {
  it.each(FOREIGN)('are not manifests: %s', (name, text) => {
    expect(isFileOfOtherTool(name, Buffer.from(text))).toBe(true);
  });

  it.each(MAYBE_MANIFESTS)('may be a manifest: %s', (_, name, text) => {
    expect(isFileOfOtherTool(name, Buffer.from(text))).toBe(false);
  });

  it('are manifests in the examples, and no file of this project is', () => {
    const examples = globSync('examples/{quickstart,everything,environments}/**/*.yaml').filter(
      (file) => !file.endsWith('kustomization.yaml'),
    );
    expect(examples.length).toBeGreaterThan(5);
    expect(examples.filter((file) => isFileOfOtherTool(file, readFileSync(file)))).toEqual([]);
    const own = ['package.json', 'package-lock.json', 'tsconfig.json'];
    expect(own.filter((file) => !isFileOfOtherTool(file, readFileSync(file)))).toEqual([]);
  });
});
