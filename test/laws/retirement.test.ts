import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { splitMetadata } from '../../src/model/mark.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { LONG } from '../tries.ts';
import { holds } from './properties.ts';
import { listTouched, World } from './world.ts';

const NAMES = ['a', 'b'] as const;
type Name = (typeof NAMES)[number];

/** The manifest of a credential. Absent: it has none. */
interface Described {
  readonly keepsOld: boolean;
  readonly acl: string;
}

type Manifests = Readonly<Partial<Record<Name, Described>>>;

/** A manifest change, a number of hours, and an apply. */
interface Step {
  readonly change: { readonly name: Name; readonly described: Described | undefined } | undefined;
  readonly hours: number;
  readonly rotate: Name | undefined;
  readonly retire: Name | undefined;
}

function arbitraryStep(): fc.Arbitrary<Step> {
  const name = fc.constantFrom(...NAMES);
  const described = fc.record({
    keepsOld: fc.boolean(),
    acl: fc.constantFrom('bind:x.example.com', 'bind:y.example.com'),
  });
  return fc.record({
    change: fc.option(fc.record({ name, described: fc.option(described, { nil: undefined, freq: 4 }) }), {
      nil: undefined,
    }),
    // No sum of them is close to 24, because a plan takes some seconds.
    hours: fc.constantFrom(0, 1, 9, 15.5, 25.5),
    rotate: fc.option(name, { nil: undefined, freq: 2 }),
    retire: fc.option(name, { nil: undefined, freq: 2 }),
  });
}

function load(manifests: Manifests): DesiredState {
  const documents = Object.entries(manifests).map(([name, { keepsOld, acl }]) => ({
    apiVersion: 'edgewise/v1',
    kind: 'Credential',
    metadata: { name },
    spec: { acl: [acl] },
    ...(keepsOld && { lifecycle: { keep_old_for: '24h' } }),
  }));
  const stack = { apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'shop' } };
  const text = [stack, ...documents].map((one) => JSON.stringify(one)).join('\n---\n');
  const { state, diagnostics } = validateManifests([{ file: 'all.yaml', text }], { env: NO_ENVIRONMENT });
  return assertDefined(state, JSON.stringify(diagnostics));
}

interface LiveCredential {
  readonly id: string;
  readonly name: string;
  readonly isRetiring: boolean;
  /** The retiring credential in its mark, and the time of its delete. */
  readonly retires: { readonly id: string; readonly at: string } | undefined;
}

/** The credentials with a mark of the stack. */
function listCredentials(world: World): readonly LiveCredential[] {
  return (world.resources()['Credential'] ?? []).flatMap(({ id, metadata }) => {
    const { mark } = splitMetadata(String(metadata ?? ''));
    if (mark?.stack !== 'shop') return [];
    return [{ id: String(id), name: mark.name, isRetiring: mark.retiring === true, retires: mark.retires }];
  });
}

/** Compares the live credentials after an apply with those before it. `at`: when planning began. */
function expectRetirements(
  before: readonly LiveCredential[],
  after: readonly LiveCredential[],
  { manifests, step, at }: { readonly manifests: Manifests; readonly step: Step; readonly at: Date },
): void {
  for (const name of NAMES) {
    const [current, ...more] = after.filter((one) => one.name === name && !one.isRetiring);
    const old = after.filter((one) => one.name === name && one.isRetiring);
    expect(more, 'one current credential').toEqual([]);
    expect(old.length, 'at most one old credential').toBeLessThanOrEqual(1);
    expect(current === undefined, 'a credential for each manifest').toBe(manifests[name] === undefined);
    if (manifests[name] === undefined) {
      expect(old, 'no old credential without a manifest').toEqual([]);
      continue;
    }
    const former = before.find((one) => one.name === name && !one.isRetiring);
    if (former === undefined) continue;
    const isRotated = step.rotate === name;
    if (!isRotated) expect(current?.id).toBe(former.id);
    else {
      expect(current?.id).not.toBe(former.id);
      const isKept = manifests[name].keepsOld && step.retire !== name;
      expect(old.map(({ id }) => id)).toEqual(isKept ? [former.id] : []);
      continue;
    }
    if (former.retires === undefined) continue;
    const isDue = Date.parse(former.retires.at) <= at.getTime();
    const isThere = old.some(({ id }) => id === former.retires?.id);
    const wasThere = before.some(({ id }) => id === former.retires?.id);
    expect(isThere, `the old one of ${name}, until ${former.retires.at}, at ${at.toISOString()}`).toBe(
      wasThere && !isDue && step.retire !== name,
    );
  }
}

describe('a rotation that keeps the old credential', () => {
  it('deletes it when it is due, replaced, retired or removed, and never otherwise', LONG, async () => {
    const property = fc.asyncProperty(fc.array(arbitraryStep(), { minLength: 2, maxLength: 10 }), async (steps) => {
      const world = new World({ concurrency: 1 });
      const foreign = await world.call('POST', '/credentials', { description: 'of nobody' });
      let manifests: Manifests = { a: { keepsOld: true, acl: 'bind:x.example.com' } };
      await world.migrate(load(manifests));
      for (const step of steps) {
        if (step.change !== undefined) {
          const { [step.change.name]: _, ...others } = manifests;
          const { name, described } = step.change;
          manifests = described === undefined ? others : { ...others, [name]: described };
        }
        world.wait(step.hours * 3600);
        const has = (name: Name | undefined) => name !== undefined && manifests[name] !== undefined;
        const before = listCredentials(world);
        const isLive = before.some(({ name }) => name === step.rotate);
        const rotate = has(step.rotate) && isLive ? [`Credential/${step.rotate}`] : [];
        const retire = has(step.retire) ? [`Credential/${step.retire}`] : [];
        const at = world.now();
        await world.migrate(load(manifests), { rotate, retire });
        const after = listCredentials(world);
        const played = { ...step, rotate: rotate.length > 0 ? step.rotate : undefined };
        expectRetirements(before, after, { manifests, step: played, at });
        for (const { id, name } of after.filter(({ isRetiring }) => !isRetiring))
          expect(world.delivered.get(name)).toContain(`${id.replace('cr_', '')}_`);
        expect(listTouched(await world.plan(load(manifests)))).toEqual([]);
        expect((world.resources()['Credential'] ?? []).map(({ id }) => id)).toContain(foreign['id']);
      }
    });
    await holds(property, 200);
  });
});
