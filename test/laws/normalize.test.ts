import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical, normalizeField } from '../../src/kinds/canonical.ts';
import { AS_IF_COMPLETE, AS_SHOWN, like } from '../../src/kinds/evidence.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { toRequestSpec } from '../../src/kinds/written-form.ts';
import { toDigest } from '../../src/model/json.ts';
import type { Spec } from '../../src/model/state.ts';
import { arbitrarySpec } from './arbitrary-values.ts';
import { holds } from './properties.ts';
import { shuffleStack } from './shuffle.ts';
import { SUBJECTS } from './subjects.ts';

describe.each(SUBJECTS)('the normal form of a spec of $name', (kind) => {
  it('is its own normal form', async () => {
    await holds(
      fc.asyncProperty(arbitrarySpec(kind), async (spec) => {
        for (const evidence of [AS_WRITTEN, AS_SHOWN, AS_IF_COMPLETE]) {
          const shown = canonical(kind, spec, evidence);
          expect(canonical(kind, shown, evidence)).toEqual(shown);
        }
        const normal = canonical(kind, spec, AS_WRITTEN);
        expect(canonical(kind, normal, like(normal))).toEqual(normal);
        for (const [name, field] of kind.specFields)
          if (name in normal) expect(normalizeField(field, normal[name])).toEqual(normal[name]);
      }),
      50,
    );
  });

  it('is the same, and so is its digest, in any order of unordered values', async () => {
    await holds(
      fc.asyncProperty(arbitrarySpec(kind), async (spec) => {
        const shuffled = shuffle(kind, spec);
        expect(canonical(kind, shuffled, AS_WRITTEN)).toEqual(canonical(kind, spec, AS_WRITTEN));
        expect(toDigest(canonical(kind, shuffled, AS_WRITTEN))).toBe(toDigest(canonical(kind, spec, AS_WRITTEN)));
        expect(toDigest(toRequestSpec(kind, shuffled))).toBe(toDigest(toRequestSpec(kind, spec)));
        expect(canonical(kind, toRequestSpec(kind, spec), AS_WRITTEN)).toEqual(canonical(kind, spec, AS_WRITTEN));
      }),
      50,
    );
  });
});

function shuffle(kind: Kind, spec: Spec): Spec {
  const [shuffled] = shuffleStack([{ kind: kind.name, name: 'a', spec, lifecycle: { protect: false, ignore: [] } }]);
  return shuffled?.spec ?? {};
}
