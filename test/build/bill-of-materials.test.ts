import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderBillOfMaterials, selectMaterials } from '../../.ci/bill-of-materials.ts';

const DEVELOPMENT = { name: 'cdx:npm:package:development' };

const BILL = {
  metadata: { component: { name: 'folder' } },
  components: [
    { 'bom-ref': 'octokit@1.0.0', properties: [DEVELOPMENT] },
    { 'bom-ref': 'undici@8.0.0', properties: [] },
    { 'bom-ref': 'vitest@5.0.0', properties: [DEVELOPMENT] },
  ],
  dependencies: [
    { ref: 'edgewise@0.1.0', dependsOn: ['octokit@1.0.0', 'undici@8.0.0', 'vitest@5.0.0'] },
    { ref: 'octokit@1.0.0', dependsOn: ['vitest@5.0.0'] },
    { ref: 'vitest@5.0.0', dependsOn: [] },
  ],
};

it('lists what is shipped, with bundled development dependencies, and nothing else', () => {
  expect(selectMaterials(BILL, ['octokit@1.0.0', 'undici@8.0.0'])).toEqual({
    metadata: { component: { name: 'edgewise' } },
    components: [
      { 'bom-ref': 'octokit@1.0.0', properties: [] },
      { 'bom-ref': 'undici@8.0.0', properties: [] },
    ],
    dependencies: [
      { ref: 'edgewise@0.1.0', dependsOn: ['octokit@1.0.0', 'undici@8.0.0'] },
      { ref: 'octokit@1.0.0', dependsOn: [] },
    ],
  });
});

it('refuses a lock file that does not contain what is shipped', () => {
  expect(() => selectMaterials(BILL, ['octokit@2.0.0'])).toThrow('package-lock.json does not have octokit@2.0.0');
});

it('lists what is bundled from the lock file, and nothing else', () => {
  const { version } = JSON.parse(readFileSync('node_modules/@octokit/rest/package.json', 'utf8'));
  const { components } = JSON.parse(renderBillOfMaterials([`@octokit/rest@${version}`]));
  const refs = components.map((component: { readonly 'bom-ref': string }) =>
    component['bom-ref'].replace(/@[^@]*$/, ''),
  );
  expect(refs).toEqual(['@octokit/rest']);
});
