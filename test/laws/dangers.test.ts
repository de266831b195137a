import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Change } from '../../src/model/change.ts';
import { expectEverywhere, toPlan } from '../report/danger-checks.ts';
import { SEED } from '../tries.ts';
import { arbitraryResource } from './arbitrary-manifests.ts';

const MARK = { stack: 'production', name: 'a', protect: false, delivered: true, fields: {} };

it('a danger is shown in every format with the same counts, for any change of any kind', async () => {
  const seen = new Set<string>();
  for (const kind of MANIFEST_KINDS) {
    const sample = fc.sample(arbitraryResource([kind]), { seed: SEED, numRuns: 60 });
    const specs = sample.map(({ spec }) => canonical(kind, spec, AS_WRITTEN));
    const changes = specs.flatMap((spec, index): readonly Change[] => {
      const start = { live: { id: `${kind.idPrefix}_${index}`, spec, mark: MARK } };
      const base = { address: `${kind.name}/r${index}` as const, kind: kind.name, differences: [] };
      const next = specs[index + 1];
      if (next === undefined || index % 5 === 0) return [{ ...base, ...start, action: 'delete' }];
      if (index % 7 === 0) return [{ ...base, action: 'create', desired: spec }];
      return [{ ...base, ...start, action: index % 3 === 0 ? 'replace' : 'update', desired: next }];
    });
    const plan = toPlan(changes);
    for (const { dangers = [] } of plan.changes)
      for (const { path = '' } of dangers) seen.add(`${kind.name} ${path.split(/[.[]/)[0]}`);
    await expectEverywhere(plan);
  }
  // Each danger of access, traffic and secrets in a table is a danger of some change.
  const telling = MANIFEST_KINDS.flatMap((kind) =>
    Object.entries(kind.fields)
      .filter(([, { restriction, carries, replacedConsequence }]) => restriction ?? carries ?? replacedConsequence)
      .map(([name]) => `${kind.name} ${name}`),
  );
  expect(telling.filter((one) => !seen.has(one))).toEqual([]);
});
