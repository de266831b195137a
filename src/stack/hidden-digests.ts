import { type ScryptOptions, scrypt } from 'node:crypto';
import { AS_WRITTEN, canonical } from '../kinds/canonical.ts';
import type { Change } from '../model/change.ts';
import { type ConcealedValue, isConcealed } from '../model/concealed-value.ts';
import { type Json, toCanonicalJson } from '../model/json.ts';
import type { HiddenDigests, Plan } from '../model/plan.ts';
import { listManifestValues } from '../model/plan-members.ts';
import { NO_OP_SECRET_REDACTOR, type SecretRedactor } from '../model/secrets.ts';
import type { PlanEvidence } from '../plan/compare/compare-plans.ts';
import type { Host } from './host.ts';
import { listRedacted, listScalars, listTexts, type Scalar } from './redacted-texts.ts';

/**
 * Digests of the values that manifests have in clear and that no plan file has, one for each resource: what is below a
 * name of a secret, and texts that contain the value of an offered secret. So an approval covers these values. A digest
 * has a salt and takes long to compute, so that no reader of a plan file finds a value by trying. Of `${secret:NAME}` an
 * approval covers the name, and live values are in no digest.
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
  const hidden = listHidden({ plan, evidence }, context);
  const entries = plan.changes.flatMap(({ address, desired, duplicateOf }) => {
    const own = hidden.get(address);
    return desired === undefined || duplicateOf !== undefined || own === undefined ? [] : [{ address, hidden: own }];
  });
  if (entries.length === 0) return plan;
  const hiddenSalt = createSalt(context);
  const digests = await computeDigests(entries, hiddenSalt, context);
  const changes = plan.changes.map((change) => {
    const isDigested = change.duplicateOf === undefined && change.desired !== undefined;
    const [hiddenDigest] = isDigested ? (digests.get(change.address) ?? []) : [];
    return hiddenDigest === undefined ? change : { ...change, hiddenDigest };
  });
  return { ...plan, hiddenSalt, changes };
}

/**
 * Computes the digests of what the manifests have now with the salt of an earlier plan, to compare with its digests. If
 * that has no salt, they equal none. A text that the earlier plan has in clear is compared as it is, because the run that
 * made that plan may have known fewer secrets: then a resource has one more digest, without such texts.
 */
export async function computeDigestsToCompare(
  earlier: Plan,
  later: DigestedPlan,
  context: DigestContext,
): Promise<HiddenDigests> {
  const { redact } = context.secrets ?? NO_OP_SECRET_REDACTOR;
  // A plan from a file has a redacted address.
  const approved = Map.groupBy(earlier.changes, ({ address }) => redact(address));
  const isCompared = ({ desired }: Change): boolean => desired !== undefined;
  const compared = new Set<string>(later.plan.changes.filter(isCompared).map(({ address }) => address));
  const entries = Array.from(listHidden(later, context)).flatMap(([address, hidden]): readonly DigestEntry[] => {
    const changes = approved.get(redact(address)) ?? [];
    if (!compared.has(address) && !changes.some(isCompared)) return [];
    const shown = new Set(listTexts(changes.map(listManifestValues)));
    const redacted = hidden.redacted.filter((one) => !shown.has(one));
    const isLess = redacted.length < hidden.redacted.length;
    return [{ address, hidden }, ...(isLess ? [{ address, hidden: { ...hidden, redacted } }] : [])];
  });
  return computeDigests(entries, earlier.hiddenSalt, context);
}

interface DigestedPlan {
  readonly plan: Plan;
  readonly evidence: PlanEvidence;
}

/** What the plan file does not show of the manifest of a resource. Both lists are in the order of sorted keys. */
interface HiddenTexts {
  /** The values of concealed literals. */
  readonly literals: readonly Json[];
  /** Texts, numbers and keys in which the value of a secret is redacted. */
  readonly redacted: readonly Scalar[];
}

/** What each manifest has that no plan file shows, by address. The order of keys does not matter. */
function listHidden({ plan, evidence }: DigestedPlan, context: DigestContext): ReadonlyMap<string, HiddenTexts> {
  const { secrets = NO_OP_SECRET_REDACTOR } = context;
  return new Map(
    evidence.decisions.flatMap(({ pair: { address, desired, kind } }) => {
      if (desired === undefined) return [];
      const scalars = listScalars(desired.spec);
      const literals = scalars.filter(isConcealed).filter(({ template }) => template === undefined);
      const { labels, annotations, lifecycle } = desired;
      const team = [labels, annotations].flatMap((texts) => texts[plan.teamLabel ?? ''] ?? []).slice(0, 1);
      // The same as `listManifestValues` of the change. A value in normal form may contain a secret that it does not
      // contain as it is written.
      const more = [address, canonical(kind, desired.spec, AS_WRITTEN), ...lifecycle.ignore, ...team];
      const redacted = listRedacted([scalars, more], secrets);
      if (literals.length + redacted.length === 0) return [];
      return [[address, { literals: revealAll(literals, secrets), redacted }] as const];
    }),
  );
}

function revealAll(hidden: readonly ConcealedValue[], { reveal }: Pick<SecretRedactor, 'reveal'>): readonly Json[] {
  return Object.values(reveal(Object.fromEntries(hidden.entries())));
}

interface DigestEntry {
  readonly address: string;
  readonly hidden: HiddenTexts;
}

/** Computes the digests of each address, in the order of its entries. Nothing hidden has no digest. */
async function computeDigests(
  entries: readonly DigestEntry[],
  salt: string | undefined,
  { signal }: DigestContext,
): Promise<HiddenDigests> {
  const digests = new Map<string, readonly (string | undefined)[]>();
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    signal?.throwIfAborted();
    const next = entries.slice(at, at + AT_ONCE);
    const computed = await Promise.all(next.map((entry) => computeDigest(entry, salt)));
    for (const [index, { address }] of next.entries())
      digests.set(address, [...(digests.get(address) ?? []), computed[index]]);
  }
  return digests;
}

async function computeDigest(
  { address, hidden: { literals, redacted } }: DigestEntry,
  salt: string | undefined,
): Promise<string | undefined> {
  if (literals.length + redacted.length === 0) return undefined;
  if (salt === undefined) return '';
  return (await derive(toCanonicalJson([literals, redacted]), `${salt} ${address}`)).toString('base64url');
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
