import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EvictingMap } from '../../src/server/store.ts';

const key = fc.integer({ min: 0, max: 8 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ act: fc.constant('set' as const), key }) },
  fc.record({ act: fc.constant('delete' as const), key }),
);

it('keeps what was added last, and forgets what was added first', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (max, steps) => {
      const map = new EvictingMap<number, number>(max);
      let model: (readonly [number, number])[] = [];
      for (const [turn, { act, key: at }] of steps.entries()) {
        const isKnown = model.some(([one]) => one === at);
        if (act === 'delete') {
          map.delete(at);
          model = model.filter(([one]) => one !== at);
        } else {
          map.set(at, turn);
          model = isKnown
            ? model.map(([one, value]) => [one, one === at ? turn : value])
            : [...model, [at, turn] as const].slice(-max);
        }
        for (let one = 0; one <= 8; one += 1) expect(map.get(one)).toBe(model.find(([known]) => known === one)?.[1]);
      }
    }),
  );
});
