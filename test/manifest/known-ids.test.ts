import { expect, it } from 'vitest';
import type { ManifestDocument } from '../../src/manifest/finding.ts';
import { resolveWrittenIds } from '../../src/manifest/references.ts';
import { createSourceText } from '../../src/manifest/source-text.ts';
import { createYamlText } from '../../src/manifest/yaml-text.ts';
import type { Address } from '../../src/model/address.ts';

const SOURCE = { text: createSourceText('a.yaml', createYamlText('')), range: { start: 0, end: 0 }, base: [] };

/** An index that counts its lookups. */
class CountingIndex extends Map<Address, ManifestDocument> {
  lookUps = 0;

  override get(address: Address): ManifestDocument | undefined {
    this.lookUps += 1;
    return super.get(address);
  }
}

it('follows each link of a chain of Externals once, however long it is', () => {
  const length = 1_000;
  const index = new CountingIndex();
  for (let at = 0; at < length; at += 1) {
    const address: Address = `External/e${at}`;
    const spec = at === length - 1 ? { stack: 'other', resource: 'TCPEdge/a' } : { id: `External/e${at + 1}` };
    index.set(address, {
      source: SOURCE,
      kind: 'External',
      name: `e${at}`,
      value: { spec },
      address,
      isValid: true,
    });
  }
  const { crossStackReferences } = resolveWrittenIds(index);
  expect(crossStackReferences.get('External/e0')).toEqual({ stack: 'other', resource: 'TCPEdge/a' });
  expect(crossStackReferences.size).toBe(length);
  expect(index.lookUps).toBeLessThan(3 * length);
});
