import { z } from 'zod';
import type { PlanFileContent } from '../kinds/plan-file-content.ts';
import { MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import { ACTIONS, CHANGE_ACTIONS, DUE_EVENTS } from '../model/change.ts';
import { DANGER_GROUP_NAMES, DANGER_NAMES } from '../model/danger.ts';
import { DIAGNOSTIC_CODES } from '../model/diagnostic.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { WRITE_METHODS, WRITE_PURPOSES, type WriteId } from '../model/write.ts';

/**
 * The schema of a plan, as results contain it. The compiler checks that it describes each member of the type
 * `PlanFileContent`, and no other type: the types are in the room `model`, which imports nothing, and the library exports
 * them with their comments.
 */

const json: z.ZodType<Json> = z.json();
const spec: z.ZodType<JsonObject> = z.record(z.string(), json);
const texts = z.array(z.string());
const namedTexts = z.record(z.string(), z.string());
const optional = z.exactOptional;
const count = z.int();

const place = z.strictObject({
  file: z.string().describe('Path as it was given.'),
  line: z.int().describe('From 1.'),
  column: z.int().describe('From 1.'),
  origin: optional(z.string()).describe('The source file of this document, as kustomize reports it.'),
});

export const VIOLATION_SCHEMA = z.strictObject({
  rule: z.enum([
    'protect',
    'delete-share',
    'nothing-described',
    'manifests-missing',
    'take-over',
    'renamed-back',
    'policy',
    'rejected-write',
    'claimed-elsewhere',
    'value-exchange',
  ]),
  message: z.string(),
  remedy: z.string(),
  addresses: texts,
  policy: optional(z.string()).describe('Name of the policy.'),
  stack: optional(z.string()).describe('The stack whose resources the plan takes over.'),
  places: optional(z.array(z.strictObject({ message: z.string(), place }))).describe(
    'Positions of the resource and the policy.',
  ),
});

export const DIAGNOSTIC_SCHEMA = z.strictObject({
  code: z.enum(Object.keys(DIAGNOSTIC_CODES) as (keyof typeof DIAGNOSTIC_CODES)[]), // Object.keys returns string[]
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  remedy: optional(z.string()),
  address: optional(z.string()),
  field: optional(z.string()).describe('The field in the spec of the resource.'),
  isOfChange: optional(z.literal(true)).describe(
    'The change of the resource causes this diagnostic. Plans show them together.',
  ),
  place: optional(place),
  related: optional(z.array(z.strictObject({ message: z.string(), place }))),
});

const digests = z.record(z.string(), z.string());
const refused = optional(
  z.strictObject({
    asked: z.string(),
    fields: texts,
    record: optional(z.literal(true)).describe('The resource is what the service created, and only records that.'),
  }),
).describe(
  'The last creation for this address that the service did not store as asked: a digest of it, and the fields.',
);

const retirement = z
  .strictObject({ id: z.string(), at: z.string().describe('Time in RFC 3339 format.') })
  .describe('The old resource that this one replaced, and from when on an apply deletes it.');

const switches = texts.describe('The modules whose switch the service showed.');

const former = z
  .strictObject({ name: z.string(), stack: optional(z.string()).describe('Absent: the stack is the same.') })
  .describe('The name before the last rename or move.');

const adopted = z.literal(true).describe('The resource was adopted, and edgewise has changed nothing on it since.');

const mark = z.strictObject({
  stack: z.string(),
  name: z.string(),
  protect: z.boolean(),
  delivered: z.boolean(),
  id: optional(z.string()).describe('Id of the resource whose mark it is. Another one: the mark is a copy.'),
  replaces: optional(z.string()).describe('Id of the credential that this one replaced.'),
  retires: optional(retirement),
  retiring: optional(z.literal(true)).describe('Another resource has replaced this one.'),
  team: optional(z.string()).describe('Team of the resource, as of its last write.'),
  fields: digests.describe('Digest of each field as last applied.'),
  refused,
  switches: optional(switches),
  former: optional(former),
  adopted: optional(adopted),
});

/**
 * Only the model creates values of the types `Address` and `WriteId`. These casts are safe, because a text from a file
 * is compared with such a value before it is used.
 */
/** A name that contains the value of a secret has a stand-in, which has a space. */
const address = z.string().regex(/^[A-Za-z]+\/(?:[^/\s]|\(secret \w+\))+$/) as unknown as z.ZodType<Address>; // the pattern matches the type
const writeId = z.string() as unknown as z.ZodType<WriteId>; // compared with the ids that follow from the changes

const validForMs = z.int().min(1).describe('Milliseconds for which a new resource is valid, from its creation.');

const difference = z.strictObject({
  field: optional(z.string()).describe(
    'The field of the spec that differs. Absent for a difference in the lifecycle or the mark.',
  ),
  path: z.string().describe('Path of the value, such as `policy.inbound[0].name`.'),
  from: optional(json).describe('Live value. Absent if there is none.'),
  to: optional(json).describe(
    'Desired value. Absent if there is none. An address stands for an id that is known after apply.',
  ),
  origin: z.enum(['manifest', 'drift', 'both', 'unknown']).describe('The origin of the difference.'),
  forcesReplace: z.boolean(),
  isHidden: optional(z.literal(true)).describe(
    'The service does not show the live value, so each apply writes the field. No change for --detailed-exitcode.',
  ),
});

/** A value that `lifecycle.ignore` leaves to others, and that differs from the manifest. */
const leftValue = z.strictObject({
  ignored: z.string().describe('The path in lifecycle.ignore.'),
  path: z.string().describe('Path of the value.'),
  from: optional(json).describe('Live value. Absent if there is none.'),
  to: optional(json).describe('Value in the manifest. Absent if it has none.'),
});

/** A text that the service shows in another spelling than the manifest. */
const otherSpelling = z.strictObject({
  path: z.string().describe('The field.'),
  from: json.describe('Live text.'),
  to: json.describe('Text in the manifest.'),
});

/** A danger of a change or of drift. */
export const DANGER_SCHEMA = z.strictObject({
  group: z.enum(DANGER_GROUP_NAMES).describe('What the danger concerns.'),
  danger: z.enum(DANGER_NAMES),
  path: optional(z.string()).describe('The field. Absent if the danger concerns the whole resource.'),
  from: optional(json).describe('The old value, or the removed members of a list or map. Absent if there is none.'),
  to: optional(json).describe('The new value, or the added members of a list or map. Absent if there is none.'),
  writes: optional(z.int()).describe('Only for the danger `gap`: number of writes during which something is missing.'),
  limitMs: optional(z.int()).describe(
    'Only for the danger `gap`: milliseconds that the writes counted in `writes` take once the rate limit is reached.',
  ),
  consequence: optional(z.string()).describe('Consequence of the danger.'),
});

const dangerCounts = z
  .strictObject({ access: count, traffic: count, secrets: count, protection: count, ownership: count })
  .describe('Number of dangers in each group.');

const kind = z.string().refine((name) => MANIFEST_KINDS.some((one) => one.name === name), 'is not a kind');

const duplicateOf = optional(z.string()).describe(
  'Only for a duplicate, or an old one that was replaced: id of the live resource that keeps the address.',
);

/** What the plan does to one resource. */
export const CHANGE_SCHEMA = z.strictObject({
  address: address.describe('Kind/name.'),
  duplicateOf,
  isOriginal: optional(z.literal(true)).describe(
    'Only for a duplicate or an old one: it is protected, or may be the protected original.',
  ),
  retiresAt: optional(z.string()).describe(
    'Only for an old resource that another one has replaced: from when on an apply deletes it. RFC 3339.',
  ),
  kind,
  action: z.enum(ACTIONS),
  reason: optional(z.string()),
  differences: z.array(difference),
  dangers: optional(z.array(DANGER_SCHEMA)).describe('The dangers of the change by group, the most severe first.'),
  isOpenToEveryone: optional(z.literal(true)).describe(
    'Only for a create or replace: everyone may use the new resource, because its manifest asks for no restriction.',
  ),
  token: optional(
    z.union([
      z.strictObject({
        directory: z.string(),
        file: optional(z.string()).describe('Pattern of the file name. Default: `{name}.token`.'),
      }),
      z.strictObject({
        command: texts.describe('Program and arguments. Placeholders are not filled in.'),
        test: optional(texts).describe('The command that is run before the first write. Absent if there is none.'),
        timeoutMs: z.number().describe('Milliseconds after which the command is stopped.'),
        folder: optional(z.string()).describe('Working folder of the command. Absent: the working folder of the run.'),
      }),
    ]),
  ).describe(
    'Where the token of the new credential is delivered. Absent if there is no token, or if no token sink is set.',
  ),
  notes: optional(texts),
  due: optional(z.strictObject({ at: z.string(), event: z.enum(DUE_EVENTS) })).describe(
    'When an unchanged resource is next replaced, or expires. For information.',
  ),
  leftToOthers: optional(z.array(leftValue)).describe(
    'Values in lifecycle.ignore that differ from the manifest. For information.',
  ),
  otherSpellings: optional(z.array(otherSpelling)).describe(
    'Texts that the service spells differently, which is not a difference. For information.',
  ),
  live: optional(
    z.strictObject({ id: z.string(), spec: optional(spec), mark: optional(mark), switches: optional(switches) }),
  ).describe('The live resource that the change starts from.'),
  desired: optional(spec).describe('The desired fields, in normal form.'),
  hiddenDigest: optional(z.string().regex(/^[\w-]{43}$/)).describe(
    'Digest of the hidden values that the manifest has in plain text. Compared with an approval, and of no use without the salt of the plan.',
  ),
  sent: optional(spec).describe('Fields that are sent in another form with the same meaning.'),
  ignored: optional(texts).describe('Fields, and parts of fields, that edgewise does not manage.'),
  validForMs: optional(validForMs),
  keepOldForMs: optional(z.int().min(1)).describe(
    'Only for a replace: milliseconds for which the old resource stays. Absent: it is deleted at once.',
  ),
  retires: optional(retirement),
  protect: optional(z.boolean()).describe('Whether the mark will record that the resource is protected.'),
  team: optional(z.string()).describe('Team of the resource. The mark records it unless it is too long.'),
  labels: optional(namedTexts).describe('Labels of the manifest, for people and policies.'),
  annotations: optional(namedTexts).describe('Annotations of the manifest, for people and policies.'),
  place: optional(place).describe('For information: where the manifest starts.'),
});

const markDraft = z
  .strictObject({
    stack: z.string(),
    name: z.string(),
    protect: z.boolean(),
    delivered: z.boolean(),
    replaces: optional(z.string()).describe('Id of the credential that this one replaces.'),
    retires: optional(
      z.strictObject({
        id: z.string(),
        afterMs: optional(z.int().min(1)).describe('Milliseconds from the time at which the write is sent.'),
        until: optional(z.string()).describe('Time in RFC 3339 format.'),
      }),
    ).describe('The old resource that this one replaces, and the earlier of two times from when on it is deleted.'),
    retiring: optional(z.literal(true)),
    team: optional(z.string()),
    user: z.union([z.string(), spec]).describe("The user's own metadata."),
    fields: digests,
    pending: spec.describe('Fields that have no digest yet, because they contain an id that is known after apply.'),
    refused,
    switches: optional(switches),
    former: optional(former),
    adopted: optional(adopted),
  })
  .describe('The mark after the write. It is sent as the metadata of the body.');

const write = z.strictObject({
  id: writeId.describe('Id of the write, such as `create Kind/name`. Unique in the plan.'),
  address,
  kind,
  duplicateOf,
  purpose: z.enum(WRITE_PURPOSES).describe('Why the write is sent.'),
  reason: z.string(),
  method: z.enum(WRITE_METHODS),
  path: z.string().describe('For information: the path, relative to the base URL. `{id}` is known after apply.'),
  ids: optional(z.looseObject({ id: z.string() }).catchall(z.string())).describe(
    'The ids in the path. Absent: the plan creates the resource.',
  ),
  module: optional(z.string()).describe(
    'The module that the write sets or removes. Absent: it writes the resource itself.',
  ),
  body: optional(spec).describe(
    'The body of the request, without metadata if there is a mark. Addresses stand for ids that are known after apply.',
  ),
  mark: optional(markDraft),
  validForMs: optional(validForMs),
  omitsStart: optional(z.literal(true)).describe('The service chooses the start of the validity.'),
  dependsOn: z.array(writeId).describe('Ids of the writes that must succeed first.'),
  last: z.boolean().describe('Whether the write starts only after all other writes have ended.'),
});

export const SKIPPED_SCHEMA = z.strictObject({
  documents: z.int().describe('Documents with the apiVersion and kind of another tool.'),
  files: z.int().describe('Files that spec.skip_files names.'),
});

/** The members of a plan. Drift has some of them too. */
export const PLAN_MEMBERS = z
  .strictObject({
    tool: z.strictObject({ name: z.literal('edgewise'), version: z.string() }),
    made: optional(
      z.strictObject({
        at: z.string().describe('Time in RFC 3339 format.'),
        commit: optional(z.string()).describe(
          'The commit of the manifests. Absent if the environment did not name it.',
        ),
      }),
    ).describe('For information: when the plan was made, and from which commit.'),
    stack: z.string(),
    baseUrl: z.string(),
    mode: z.enum(['apply', 'destroy', 'release']),
    settings: z.strictObject({
      versionHeader: z.string(),
      pageSize: z.int().min(1).max(100),
      concurrency: z.int().min(1),
      rateLimit: z.string().describe('Such as `120/60s`, or `none`.'),
      keyEnv: optional(z.string()).describe(
        'The environment variable that held the API key. Default: EDGEWISE_API_KEY.',
      ),
      guard: z
        .strictObject({ maxDeletes: z.int().min(0), maxDeleteShare: z.number().min(0).max(1) })
        .describe('When deletes need consent.'),
      kinds: optional(texts).describe(
        'Kinds that the stack uses; others were not read. If this field is absent, the stack uses every kind.',
      ),
    }),
    options: z
      .strictObject({
        rotate: texts.describe('Addresses of --rotate.'),
        retire: texts.describe('Addresses of --retire.'),
      })
      .describe('Options of the run that made the plan.'),
    targets: texts,
    exclusions: optional(texts),
    takeOver: texts.describe('Other stacks whose resources the plan takes over.'),
    inputs: z.array(z.strictObject({ file: z.string(), digest: z.string() })),
    skipped: optional(SKIPPED_SCHEMA).describe('What is among the manifests and belongs to other tools.'),
    externals: z.record(z.string(), z.string()).describe('Ids, by the address of the External that names them.'),
    crossStackReferences: optional(
      z.record(address, z.strictObject({ stack: z.string(), resource: address })),
    ).describe('Resources whose ids are known only after another stack is applied, by the address of the External.'),
    goneIds: optional(
      z.array(
        z.strictObject({
          id: z.string(),
          address: optional(address).describe('What has, or will have, a new id in its place.'),
          stack: optional(z.string()).describe('The stack of the address. Absent: that of the plan.'),
          places: z.array(place).describe('Where manifests still refer to it.'),
        }),
      ),
    ).describe('For information: ids in manifests that no resource has any more, as after the account was emptied.'),
    teamLabel: optional(z.string()).describe(
      'For information: the label or annotation that names the team of a resource.',
    ),
    hiddenSalt: optional(z.string().regex(/^[\w-]{22}$/)).describe('Salt of each `hiddenDigest`.'),
    totals: z
      .strictObject({
        delete: count,
        replace: count,
        withhold: count,
        update: count,
        release: count,
        takeOver: count,
        adopt: count,
        create: count,
        unchanged: count,
      })
      .describe('Number of resources by what happens to them.'),
    dangers: dangerCounts,
    changes: z.array(CHANGE_SCHEMA),
    writes: z.array(write),
    diagnostics: z.array(DIAGNOSTIC_SCHEMA),
    violations: z.array(VIOLATION_SCHEMA),
    done: optional(
      z.array(
        z.strictObject({
          address: z.string().describe('Kind/name, with the id of a duplicate.'),
          action: z.enum(CHANGE_ACTIONS),
          paths: optional(texts).describe('The fields that are done. Absent if the whole change is.'),
        }),
      ),
    ).describe('What an approved plan contains beyond this plan, because it is done already.'),
    rehearsal: optional(
      z.strictObject({
        writes: z.int().describe('Writes that were tried.'),
        rejected: z.int().describe('Writes that were rejected, or depended on one that was.'),
        awaiting: optional(z.int()).describe('Writes that need a value which another stack of the run frees first.'),
        remaining: z.int().describe('Changes that the next plan would still contain.'),
        tokens: z.int().describe('Tokens that are created and delivered.'),
        unchecked: optional(texts).describe('Ids that occur in requests, but not in the data that was read.'),
      }),
    ).describe('Result of the rehearsal. Absent if the plan was not rehearsed.'),
    requests: z.strictObject({
      read: z.int().describe('Number of requests for reading.'),
      apply: z
        .int()
        .describe(
          'The least number of requests that an apply sends: the writes, list requests to find duplicates by a concurrent apply, and requests that confirm deletes.',
        ),
      readAgain: optional(z.int()).describe(
        'Number of writes before which an apply reads the resource again, unless it has just read it. Not part of `apply`.',
      ),
      leastMs: z.int().describe('The least time that these requests take within the rate limit, in milliseconds.'),
    }),
  })
  .meta({
    title: 'Edgewise plan',
    description: 'The changes and writes that an apply of the stack would make. Contains no secrets.',
  });

/** A type with each member required, down to JSON. */
export type Whole<T> = [JsonObject] extends [T]
  ? Json
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends readonly (infer Member)[]
      ? readonly Whole<Member>[]
      : { readonly [Name in keyof T]-?: Whole<Exclude<T[Name], undefined>> };

/** A schema of a type. Does not compile if what it reads lacks a member of the type, also one that may be absent. */
export type SchemaOf<T, Read extends Whole<T>> = z.ZodType<Read extends never ? never : T>;

export const PLAN_SCHEMA: SchemaOf<PlanFileContent, Whole<z.output<typeof PLAN_MEMBERS>>> = PLAN_MEMBERS;
