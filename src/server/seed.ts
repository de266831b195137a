import { toPathText } from '../model/field-path.ts';
import { findJsonExcess, isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import { listFindings } from '../schemas/findings.ts';
import { SEED_SCHEMA } from '../schemas/seed.ts';
import type { AbuseReportRule } from './abuse-report-rules.ts';

/** What a server begins with: existing objects and known external ids. Everything may be left out. */
export interface ServerSeed {
  /**
   * The ids that exist besides those of its resources; `bkdhr_*` is every well-formed one with that prefix. Left out: every well-formed one
   * of a kind that this interface cannot create.
   */
  readonly externals?: readonly string[];
  /** By kind, in any order: `created_at` says which is older, else the place in the list. */
  readonly resources?: Readonly<Record<string, readonly SeedResource[]>>;
  /** What becomes of the host names in abuse reports; the first rule that is about one holds. Left out: what the server does by itself. */
  readonly abuse_report_rules?: readonly AbuseReportRule[];
  /** The secrets of SSH certificate authorities, by id: 32 bytes in base64url. */
  readonly certificate_authorities?: Readonly<Record<string, string>>;
  /** How many ids were made before. */
  readonly sequence?: number;
}

/**
 * One existing resource: the fields that requests have, `id` and `created_at`, all optional where a request needs none.
 * `deletable: false`: the service does not let it go. `state`, in snapshots: what the server remembers beside the fields.
 */
export type SeedResource = JsonObject;

/** Everything that a server knows, as a seed for the next one. */
export type ServerSnapshot = Required<Omit<ServerSeed, Chosen>> & Pick<ServerSeed, Chosen>;

/** Optional; a snapshot has it only if it was set. */
type Chosen = 'externals' | 'abuse_report_rules';

/** A seed or snapshot from its JSON text. Throws `RangeError`, with everything that is wrong, on a bad one. */
export function parseServerSeed(text: string): ServerSeed {
  const excess = findJsonExcess(text);
  if (excess !== undefined) throw new RangeError(`It ${excess}`);
  const value = parseJson(text);
  const crowd = findCrowd(value, []);
  if (crowd !== undefined) throw new RangeError(crowd);
  const problems = listFindings(SEED_SCHEMA, value);
  if (problems.length > 0) throw new RangeError(renderProblems(problems));
  return value as ServerSeed; // the schema has said so
}

/** Resources of a kind, or external ids; and what one of them holds. */
const [MAX_LISTED, MAX_INSIDE] = [100_000, 20_000];

/** The first list or object with more members than are looked at one by one. */
function findCrowd(value: Json, path: FieldPath): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const most = path.length < 3 ? MAX_LISTED : MAX_INSIDE;
  const size = isJsonArray(value) ? value.length : Object.keys(value).length;
  if (size > most) return `${toPathText(path)} has more than ${most.toLocaleString('en')} members`;
  for (const [key, member] of Object.entries(value)) {
    const crowd = findCrowd(member, [...path, isJsonArray(value) ? Number(key) : key]);
    if (crowd !== undefined) return crowd;
  }
  return undefined;
}

/** The number that is reported; the others are only counted. */
const MAX_TOLD = 20;

function renderProblems(problems: ReturnType<typeof listFindings>): string {
  const told = problems.slice(0, MAX_TOLD).map(({ path, message }) => `${toPathText(path)} ${message}`.trim());
  const more = problems.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more.toLocaleString('en')} more`] : [])].join('\n');
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new RangeError(`It is not JSON: ${error.message}`, { cause: error });
    throw error;
  }
}
