import { afterEach, describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { like } from '../../src/kinds/evidence.ts';
import { readAttachedResource } from '../../src/kinds/read-response.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { createCaller } from './caller.ts';
import type { ContractTarget } from './contract-target.ts';

/** A module of a resource that the API cannot create: its path, a full value, and invalid values. */
interface ModuleSample {
  readonly kind: 'HTTPSEdge' | 'HTTPSEdgeRoute';
  readonly name: string;
  readonly full: (ids: ContractTarget['ids']) => JsonObject;
  readonly least: JsonObject;
  readonly refused: readonly JsonObject[];
}

const SAMPLES: readonly ModuleSample[] = [
  {
    kind: 'HTTPSEdge',
    name: 'mutual_tls',
    full: ({ ca }) => ({ enabled: false, certificate_authority_ids: [ca] }),
    least: { certificate_authority_ids: [] },
    refused: [
      { certificate_authority_ids: ['ipp_wrong'] },
      { certificate_authority_ids: 'ca_text' },
      { enabled: 'no' },
    ],
  },
  {
    kind: 'HTTPSEdgeRoute',
    name: 'circuit_breaker',
    full: () => ({
      enabled: false,
      tripped_duration: 4_294_967_295,
      rolling_window: 60,
      num_buckets: 128,
      volume_threshold: 20,
      error_threshold_percentage: 0.25,
    }),
    least: {},
    refused: [
      { num_buckets: 129 },
      { error_threshold_percentage: 1.5 },
      { error_threshold_percentage: -0.1 },
      { tripped_duration: 4_294_967_296 },
      { rolling_window: -1 },
      { volume_threshold: 0.5 },
    ],
  },
  {
    kind: 'HTTPSEdgeRoute',
    name: 'request_headers',
    full: () => ({ enabled: false, add: { 'X-Env': 'prod', 'x-team': 'é' }, remove: ['X-Debug'] }),
    least: {},
    refused: [{ add: { 'X-Env': 'a', 'x-env': 'b' } }, { add: { 'bad name': 'x' } }, { add: { a: 'x\r\ny' } }],
  },
  {
    kind: 'HTTPSEdgeRoute',
    name: 'user_agent_filter',
    full: () => ({ enabled: false, allow: ['(Pingdom|curl)/(\\d+)'], deny: ['Bot'] }),
    least: {},
    refused: [{ allow: ['('] }, { deny: ['(?=lookahead)'] }, { allow: 'curl' }],
  },
];

export function describeHttpsModules(target: ContractTarget): void {
  describe.each(SAMPLES)('$name of an $kind', ({ kind: kindName, name, full, least, refused }) => {
    const kind = getKind(kindName);
    const call = createCaller(target);
    const { edghts, edghtsrt } = target.ids;
    const owner = kindName === 'HTTPSEdge' ? `/edges/https/${edghts}` : `/edges/https/${edghts}/routes/${edghtsrt}`;
    const path = `${owner}/${name}`;
    const expectModule = (body: JsonObject, asked: JsonObject): void => {
      const { spec } = readAttachedResource(kind, {}, { [name]: body });
      const wanted = canonical(kind, { [name]: asked }, AS_WRITTEN);
      expect(canonical(kind, spec, like(wanted))[name]).toEqual(wanted[name]);
    };

    afterEach(async () => {
      await call('DELETE', path);
    });

    it('is set as a whole, and read as it was set', async () => {
      const put = await call('PUT', path, { body: full(target.ids) });
      expect(put.status).toBe(200);
      expectModule(put.body, full(target.ids));
      const read = await call('GET', path);
      expect(read.status).toBe(200);
      expectModule(read.body, full(target.ids));
    });

    it('is replaced as a whole: what is left out gets its default', async () => {
      await call('PUT', path, { body: full(target.ids) });
      expect((await call('PUT', path, { body: least })).status).toBe(200);
      expectModule((await call('GET', path)).body, { enabled: true, ...least });
    });

    it('is removed with 204, set or not', async () => {
      await call('PUT', path, { body: least });
      expect((await call('DELETE', path)).status).toBe(204);
      expect((await call('DELETE', path)).status).toBe(204);
    });

    it.each(refused)('refuses %j, and keeps what is set', async (body) => {
      await call('PUT', path, { body: full(target.ids) });
      expect((await call('PUT', path, { body })).status).toBe(400);
      expectModule((await call('GET', path)).body, full(target.ids));
    });
  });
}
