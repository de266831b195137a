import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_ENVIRONMENT } from '../../src/manifest/environment.ts';
import { validateManifests } from '../../src/manifest/validate.ts';
import { assertDefined } from '../../src/model/errors.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { isRefusalRecord, type Mark, splitMetadata } from '../../src/model/mark.ts';
import { isIncomplete } from '../../src/model/plan.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { withFaults } from '../../src/server/index.ts';
import { holds } from '../laws/properties.ts';
import { World } from '../laws/world.ts';
import { LONG } from '../tries.ts';

/** Walks against a service that sometimes stores more in a new credential or certificate than was requested. */

const RULES = ['bind:a.example.com', 'bind:b.example.com'] as const;
const PRINCIPALS = ['alice', 'bob'] as const;
const PLACES = ['Credential', 'SSHUserCertificate'] as const;
type Place = (typeof PLACES)[number];

/** What a manifest asks for. Absent: there is no manifest. */
type Manifests = Readonly<Partial<Record<Place, number>>>;

interface Step {
  readonly change: { readonly place: Place; readonly asked: number | undefined } | undefined;
  readonly rotate: readonly Place[];
  /** What the service stores instead. Absent: what is requested. */
  readonly granted: JsonObject | undefined;
}

const GRANTED: readonly JsonObject[] = [
  { acl: [], principals: [] },
  { acl: ['*'], principals: [...PRINCIPALS, 'root'] },
  { acl: [RULES[0]], extensions: { 'permit-pty': '', 'permit-port-forwarding': '' } },
  { acl: ['bind:*.example.com'], valid_until: '2027-01-01T00:00:00Z' },
  { acl: [RULES[0]], valid_until: '2026-03-05T00:00:00Z' },
];

function arbitraryStep(): fc.Arbitrary<Step> {
  const place = fc.constantFrom(...PLACES);
  const asked = fc.option(fc.nat(1), { nil: undefined, freq: 4 });
  return fc.record({
    change: fc.option(fc.record({ place, asked }), { nil: undefined, freq: 2 }),
    rotate: fc.subarray([...PLACES]),
    granted: fc.option(fc.constantFrom(...GRANTED), { nil: undefined, freq: 3 }),
  });
}

function load({ Credential: acl, SSHUserCertificate: principals }: Manifests): DesiredState {
  const toDocument = (kind: string, name: string, spec: object) => ({
    apiVersion: 'edgewise/v1',
    kind,
    metadata: { name },
    spec,
  });
  const documents = [
    toDocument('Stack', 'shop', {}),
    ...(acl === undefined ? [] : [toDocument('Credential', 'x', { acl: RULES.slice(0, acl + 1) })]),
    ...(principals === undefined
      ? []
      : [toDocument('SSHUserCertificate', 'x', { ...CERTIFICATE, principals: PRINCIPALS.slice(0, principals + 1) })]),
  ];
  const text = documents.map((one) => JSON.stringify(one)).join('\n---\n');
  const { state, diagnostics } = validateManifests([{ file: 'all.yaml', text }], { env: NO_ENVIRONMENT });
  return assertDefined(state, JSON.stringify(diagnostics));
}

const CERTIFICATE = {
  public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
  ssh_certificate_authority_id: 'sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcA',
  extensions: { 'permit-pty': '' },
  valid_until: '2026-09-01T00:00:00Z',
};

/** The fields that a kind has, of what the service grants. */
function createGrantingService({ server }: World, granted: JsonObject): (inner: Transport) => Transport {
  const { acl = [], ...more } = granted;
  const rules = [
    { on: 'POST /credentials', fault: 'other_values', values: { acl } },
    { on: 'POST /ssh_user_certificates', fault: 'other_values', values: more },
  ] as const;
  return (inner) =>
    withFaults(
      server.behind(() => toSend(inner)),
      { seed: 1, rules },
    ).handle;
}

interface Live {
  readonly id: string;
  readonly mark: Mark | undefined;
  readonly json: JsonObject;
}

function listLive(world: World, place: Place): readonly Live[] {
  return (world.resources()[place] ?? []).map((json) => ({
    id: String(json['id']),
    mark: splitMetadata(String(json['metadata'])).mark,
    json,
  }));
}

/** Expects one resource or record at most, and no delivered token of what was not requested. */
function expectNothingGranted(world: World, manifests: Manifests): void {
  for (const place of PLACES) {
    const live = listLive(world, place);
    expect(live.length, `number of ${place}`).toBeLessThanOrEqual(1);
    for (const one of live) {
      if (isRefusalRecord(one)) continue;
      if (place === 'Credential') expect(RULES.map((_, at) => RULES.slice(0, at + 1))).toContainEqual(one.json['acl']);
      if (place === 'SSHUserCertificate') expect(one.json).toMatchObject({ valid_until: CERTIFICATE.valid_until });
      if (manifests[place] === undefined) expect(one, 'a resource without a manifest').toBeUndefined();
    }
  }
}

/** The addresses of `--rotate` that have a manifest. */
function listRotated(manifests: Manifests, rotate: readonly Place[]): readonly string[] {
  return rotate.flatMap((place) => (manifests[place] === undefined ? [] : [`${place}/x`]));
}

describe('a service that grants more than is requested, now and then', () => {
  it(
    'gets no token delivered and nothing taken for it, is not asked twice, and is done with after one --rotate',
    LONG,
    async () => {
      let withheld = 0;
      const property = fc.asyncProperty(fc.array(arbitraryStep(), { minLength: 2, maxLength: 6 }), async (steps) => {
        const world = new World();
        let manifests: Manifests = { Credential: 1, SSHUserCertificate: 1 };
        for (const { change, rotate, granted } of steps) {
          if (change !== undefined) manifests = { ...manifests, [change.place]: change.asked };
          const stack = load(manifests);
          const run = async (rotated: readonly string[]) => {
            const plan = await world.plan(stack, { rotate: rotated });
            world.takeRequests();
            const { outcomes } = await (granted === undefined
              ? world.apply(plan)
              : world.applyOver(plan, createGrantingService(world, granted)));
            const sent = world.takeRequests().filter(({ method }) => method === 'POST');
            return { plan, sent, isDone: outcomes.every(({ outcome }) => outcome === 'applied') };
          };
          const first = await run(listRotated(manifests, rotate));
          expectNothingGranted(world, manifests);
          if (granted === undefined) expect(first.isDone).toBe(true);
          const second = await run([]);
          expectNothingGranted(world, manifests);
          // Only a first certificate that permits more leaves no record.
          const again = second.sent.filter(({ path }) => path !== '/ssh_user_certificates');
          expect(again).toEqual([]);
          if (isIncomplete(second.plan)) withheld += 1;
        }
        const last = load(manifests);
        const plan = await world.plan(last);
        const refused = plan.changes.filter(({ action }) => action === 'withhold').map(({ address }) => address);
        await world.migrate(last, { rotate: refused });
        const empty = await world.plan(last);
        expect(empty.writes).toEqual([]);
        expect(isIncomplete(empty)).toBe(false);
        for (const place of PLACES) expect(listLive(world, place)).toHaveLength(manifests[place] === undefined ? 0 : 1);
        const [credential] = listLive(world, 'Credential');
        if (credential !== undefined) expect(credential.mark?.delivered).toBe(true);
      });
      await holds(property, 80);
      expect(withheld).toBeGreaterThan(0);
    },
  );
});
