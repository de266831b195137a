import { describe, expect, it } from 'vitest';
import { mapPossibleSecrets } from '../../src/kinds/conceal.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Json } from '../../src/model/json.ts';

/** A policy of an edge in which each possible secret is replaced: with `named` beside a name of a secret, otherwise with `value`. */
function concealInPolicy(config: Json): Json | undefined {
  const spec = { policy: { inbound: [{ actions: [{ type: 'x', config }] }] } };
  const { policy } = mapPossibleSecrets(getKind('TCPEdge'), spec, ({ isNamed }) => (isNamed ? 'named' : 'value'));
  return JSON.parse(JSON.stringify(policy)).inbound[0].actions[0].config;
}

describe('of the free JSON of a policy', () => {
  it.each<[string, Json, Json]>([
    ['a text under the name of a secret', { token: 's3cret', url: 'u' }, { token: 'named', url: 'u' }],
    ['each text of a list under such a name', { token: ['', 's3cret', true] }, { token: ['', 'named', true] }],
    ['a number under such a name', { token: 48151623421234, max: 5 }, { token: 'named', max: 5 }],
    ['a list that begins with a secret', { token: ['s3cret', ''] }, { token: ['named', ''] }],
    ['texts below such a name', { secret: { a: { b: 's3cret' }, c: '' } }, { secret: { a: { b: 'named' }, c: '' } }],
  ])('%s is concealed', (_, config, concealed) => {
    expect(concealInPolicy(config)).toEqual(concealed);
  });

  it.each<[Json]>([[{ url: 'u', list: ['a'] }], [{ token: '' }], [{ token: [''], max: 5 }], [{ a: { $hidden: 1 } }]])(
    'nothing of %j is concealed',
    (config) => {
      expect(concealInPolicy(config)).toEqual(config);
    },
  );
});
