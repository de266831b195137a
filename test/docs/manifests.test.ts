import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { EXAMPLES_PAGE } from '../../.ci/run-example.ts';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { createServer, parseServerSeed } from '../../src/server/index.ts';
import { type CodeBlock, listCodeBlocks } from './documents.ts';

/** Most manifests of the page on diagnostics have a mistake. `test/explain` runs its examples. */
function listBlocks(language: string): readonly CodeBlock[] {
  return listCodeBlocks(language).filter(({ place }) => !place.startsWith(EXAMPLES_PAGE));
}

const MANIFESTS = listBlocks('yaml').filter(({ text }) => text.includes('apiVersion: edgewise/v1'));
const SEEDS = listBlocks('json').filter(({ text }) => text.includes('"resources"'));

describe('documents', () => {
  it.each(MANIFESTS)('shows valid manifests at $place', ({ place, text }) => {
    const sources = [{ file: place, bytes: Buffer.from(text) }];
    expect(validateManifests(sources, { env: NO_ENVIRONMENT, requireStack: false }).diagnostics).toEqual([]);
  });

  it.each(SEEDS)('shows a seed that the server accepts at $place', ({ text }) => {
    const { resources } = createServer({ seed: parseServerSeed(text) }).snapshot();
    expect(resources['WeightedBackend']).toHaveLength(1);
  });

  it.each(listBlocks('yaml'))('shows readable YAML at $place', ({ text }) => {
    expect(parseAllDocuments(text).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  });

  it('contain manifests and other YAML', () => {
    expect(MANIFESTS.length).toBeGreaterThan(1);
    expect(SEEDS).toHaveLength(1);
  });
});
