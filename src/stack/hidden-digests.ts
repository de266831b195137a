import { type ScryptOptions, scrypt } from 'node:crypto';
import type { ConcealedValue } from '../model/concealed-value.ts';
import { type Json, toCanonicalJson } from '../model/json.ts';
import type { HiddenDigests, Plan } from '../model/plan.ts';
import type { SecretRedactor } from '../model/secrets.ts';
import type { PlanEvidence } from '../plan/compare/done.ts';
import type { Host } from './host.ts';

/**
 * Digests of the values that manifests have in clear and that no output shows, one for each resource. So an approval
 * covers these values, although no plan file has them. A digest has a salt and takes long to compute, so that nobody
 * finds a value by trying. Of `${secret:NAME}` an approval covers the name, and live values are in no digest.
 */

/** Fixed by the format of plan files, and never read from one. It takes 32 MiB. */
const PARAMETERS: ScryptOptions = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 };
const DIGEST_BYTES = 32;
const SALT_BYTES = 16;

/** Digests that are computed at the same time: as many as Node has threads for them. */
const AT_ONCE = 4;

interface DigestContext extends Pick<Host, 'secrets' | 'random'> {
  readonly signal?: AbortSignal | undefined;
}

/** Adds to a plan the digests of its changes, with a salt of its own. Returns the same plan if it needs none. */
export async function addHiddenDigests(plan: Plan, evidence: PlanEvidence, context: DigestContext): Promise<Plan> {
  const literals = listHiddenLiterals(evidence, context);
  const addresses = plan.changes
    .filter(({ address, desired, duplicateOf }) => desired && duplicateOf === undefined && literals.has(address))
    .map(({ address }) => address);
  if (addresses.length === 0) return plan;
  const hiddenSalt = createSalt(context);
  const digests = await computeDigests(addresses, { literals, salt: hiddenSalt }, context);
  const changes = plan.changes.map((change) => {
    const hiddenDigest = change.duplicateOf === undefined && change.desired ? digests.get(change.address) : undefined;
    return hiddenDigest === undefined ? change : { ...change, hiddenDigest };
  });
  return { ...plan, hiddenSalt, changes };
}

/**
 * Computes the digests of what the manifests have now with the salt of an earlier plan, to compare with its digests. If
 * that has no salt, they equal none.
 */
export async function computeDigestsToCompare(
  { hiddenSalt, changes }: Plan,
  { plan, evidence }: { readonly plan: Plan; readonly evidence: PlanEvidence },
  context: DigestContext,
): Promise<HiddenDigests> {
  const salted = [...changes, ...plan.changes].filter(({ hiddenDigest }) => hiddenDigest !== undefined);
  const literals = listHiddenLiterals(evidence, context);
  const addresses = [...new Set(salted.map(({ address }) => address))].filter((address) => literals.has(address));
  if (hiddenSalt === undefined) return new Map(addresses.map((address) => [address, '']));
  return computeDigests(addresses, { literals, salt: hiddenSalt }, context);
}

/** The hidden values of each manifest that has some, by address. The order of keys does not matter. */
function listHiddenLiterals(
  { decisions }: PlanEvidence,
  { secrets }: DigestContext,
): ReadonlyMap<string, readonly Json[]> {
  return new Map(
    decisions.flatMap(({ pair: { address, desired } }) => {
      const found: ConcealedValue[] = [];
      toCanonicalJson(desired?.spec ?? null, (concealed) => {
        if (concealed.template === undefined) found.push(concealed);
        return '';
      });
      return found.length === 0 || secrets === undefined ? [] : [[address, revealAll(found, secrets)] as const];
    }),
  );
}

function revealAll(hidden: readonly ConcealedValue[], { reveal }: Pick<SecretRedactor, 'reveal'>): readonly Json[] {
  return Object.values(reveal(Object.fromEntries(hidden.entries())));
}

interface DigestInput {
  readonly literals: ReadonlyMap<string, readonly Json[]>;
  readonly salt: string;
}

async function computeDigests(
  addresses: readonly string[],
  { literals, salt }: DigestInput,
  { signal }: DigestContext,
): Promise<HiddenDigests> {
  const digests = new Map<string, string>();
  for (let at = 0; at < addresses.length; at += AT_ONCE) {
    signal?.throwIfAborted();
    const next = addresses.slice(at, at + AT_ONCE).map(async (address) => {
      const digest = await derive(toCanonicalJson(literals.get(address) ?? []), `${salt} ${address}`);
      digests.set(address, digest.toString('base64url'));
    });
    await Promise.all(next);
  }
  return digests;
}

function derive(values: string, salt: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(values, salt, DIGEST_BYTES, PARAMETERS, (error, digest) => {
      if (error === null) resolve(digest);
      else reject(error);
    });
  });
}

function createSalt({ random }: Pick<Host, 'random'>): string {
  return Buffer.from(Array.from({ length: SALT_BYTES }, () => Math.floor(random() * 256))).toString('base64url');
}
