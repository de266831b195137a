import { z } from 'zod';
import type { FieldType, NamedField } from '../kinds/field.ts';
import { parseIgnoredPart } from '../kinds/ignored-parts.ts';
import type { Kind } from '../kinds/kind.ts';
import { describeIdPrefixes, describeMalformedId, formatIdPattern, isIdOf } from '../kinds/paths.ts';
import { listAllIdPrefixes } from '../kinds/references.ts';
import { getKind, MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { isResourceName, parseAddress } from '../model/address.ts';
import { LINT_CODES, LINT_RULE_IDS, type LintCode } from '../model/diagnostic.ts';
import { createKeySchema, createKindLifecycleShape, createManifestSpecSchema } from './field.ts';
import { POLICY_SPEC_SCHEMA, POLICY_TEST_SPEC_SCHEMA } from './policy.ts';
import { NULLISH_STACK_SPEC_SCHEMA } from './stack.ts';
import { ANY_JSON_SCHEMA, createCheckedTextSchema, nameSharedSchema } from './text.ts';

/**
 * zod schemas of whole documents: the fields around `spec`, and the kinds that are not resources. For a resource, the
 * schema of `spec` is derived from the kind's table. Schemas are created on first use.
 */

export const MANIFEST_API_VERSION = 'edgewise/v1';

/** The values of `apiVersion` that a `List` may have. Tools that create lists write `v1`. */
export const LIST_API_VERSIONS = [MANIFEST_API_VERSION, 'v1'] as const;

export const DOCUMENT_KINDS: readonly string[] = [
  ...MANIFEST_KINDS.map(({ name }) => name),
  'External',
  'Stack',
  'Defaults',
  'Policy',
  'PolicyTest',
  'List',
];

export const LIST_MEMBER_KINDS: readonly string[] = DOCUMENT_KINDS.filter((name) => name !== 'List');

/** Returns the schema of a document. `undefined` for an unknown kind. A `List` is checked without its members. */
export function findDocumentSchema(kind: string): z.ZodType | undefined {
  if (!DOCUMENT_KINDS.includes(kind)) return undefined;
  const schema = BUILT.get(kind) ?? buildSchema(kind);
  BUILT.set(kind, schema);
  return schema;
}

export function createListDocumentSchema(member: z.ZodType): z.ZodType {
  return z
    .strictObject({
      apiVersion: z.enum(LIST_API_VERSIONS).describe('Format of the document.'),
      kind: z.literal('List').describe('A list of documents.'),
      metadata: createUnusedMetadataSchema(),
      items: z.array(member).describe('The documents.'),
    })
    .meta({ title: 'list', description: 'A list of documents, as other tools print it.' });
}

function createUnusedMetadataSchema() {
  return z
    .record(z.string(), ANY_JSON_SCHEMA)
    .optional()
    .describe('Accepted because some tools add it. Edgewise ignores it.');
}

const BUILT = new Map<string, z.ZodType>();

function buildSchema(kind: string): z.ZodType {
  if (kind === 'List') return createListDocumentSchema(ANY_JSON_SCHEMA);
  if (kind === 'External') return createExternalSchema();
  if (kind === 'Stack') return createStackSchema();
  if (kind === 'Defaults') return createDefaultsSchema();
  if (kind === 'Policy') return createPolicySchema();
  if (kind === 'PolicyTest') return createPolicyTestSchema();
  return createResourceSchema(getKind(kind));
}

function createResourceSchema(kind: Kind): z.ZodType {
  const spec = createManifestSpecSchema(kind).describe(`Fields of the ${kind.title}.`);
  const isRequired = kind.specFields.some(([, { required }]) => required);
  return z
    .strictObject({
      ...createHeader(kind.name, kind.description),
      spec: isRequired ? spec : spec.nullish(),
      lifecycle: createLifecycleSchema(kind).optional(),
      lint: ALLOW_SCHEMA.optional(),
    })
    .meta({ title: kind.title, description: kind.description });
}

function createHeader(
  kind: string,
  description: string,
): Readonly<Record<'apiVersion' | 'kind' | 'metadata', z.ZodType>> {
  return {
    apiVersion: z.literal(MANIFEST_API_VERSION).describe('Format of the document.'),
    kind: z.literal(kind).describe(description),
    metadata: NAMING_SCHEMA,
  };
}

function createNamingSchema() {
  const added = z
    .record(z.string(), z.string())
    .nullish()
    .describe('For people and policies. Plans contain them; the service does not store them.');
  const name = createNameSchema().describe(
    'Name, unique among the documents of its kind. A new name means a new resource, unless `lifecycle.renamed_from` contains the old name.',
  );
  const naming = z
    .strictObject({ name, labels: added, annotations: added })
    .describe('Name, labels and annotations of the document.');
  return nameSharedSchema('Naming', naming);
}

function createNameSchema(): z.ZodType {
  return z
    .string()
    .refine(isResourceName, { error: describeBadName, params: { code: 'bad-value', isName: true } })
    .meta({ pattern: '^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$', patternErrorMessage: `A name has ${NAME_RULE}.` });
}

const NAME_RULE = '1 to 63 lower-case letters, digits, `.`, `_` and `-`, and starts and ends with a letter or digit';

const NAMING_SCHEMA = createNamingSchema();

function describeBadName({ input }: { readonly input?: unknown }): string {
  return `is \`${String(input)}\`. A name has ${NAME_RULE}`;
}

function createLifecycleSchema(kind: Kind): z.ZodType {
  const isOwned = kind.role === 'owned';
  const names = kind.specFields.filter(([, { lifecycle }]) => isOwned || lifecycle === 'mutable');
  const ignore = z
    .array(createIgnoredPathSchema(names))
    .optional()
    .describe(
      'Fields, and members of fields, that edgewise does not manage. Comparisons and updates leave them alone.',
    );
  const owned = {
    protect: z
      .boolean()
      .optional()
      .describe(
        'Never delete, replace or release the resource. Stored in its mark, so it applies even without the manifest.',
      ),
    ignore,
    adopt: createAdoptSchema(kind)
      .optional()
      .describe('Id of an existing resource to adopt. No effect once the stack owns it.'),
    renamed_from: z
      .union([
        createNameSchema(),
        z.strictObject({
          stack: createNameSchema().describe('The stack that hands the resource over.'),
          name: createNameSchema().describe('Name of the resource in that stack.'),
        }),
      ])
      .optional()
      .describe(
        'The former name of the resource, or its former stack and its name there. An apply writes the new name into the mark; then this field has no effect.',
      ),
  };
  return z
    .strictObject({ ...(isOwned ? owned : { ignore }), ...createKindLifecycleShape(kind) })
    .describe('How edgewise manages the resource.');
}

/** Schema of a path in `lifecycle.ignore`: a field, or one member of a field. */
function createIgnoredPathSchema(fields: readonly NamedField[]): z.ZodType {
  const types = new Map(fields.map(([name, { type }]) => [name, type]));
  const known = fields.flatMap(([name, { type }]) => [name, ...listMemberPaths(name, type)]);
  const open = fields.filter(([, { type }]) => type.type === 'map' || type.type === 'metadata').map(([name]) => name);
  const expected = describeIgnoredPaths(fields);
  return z
    .string()
    .superRefine((path, context) => {
      if (known.includes(path)) return;
      const { field, member = '' } = parseIgnoredPart(path);
      const near = member === '' ? [] : open.map((name) => `${name}.${member}`);
      const params = { code: 'bad-value', known: [...known, ...near] };
      if (!open.includes(field) || member === '') {
        context.addIssue({ code: 'custom', message: `is \`${path}\`, but must be ${expected}`, params });
        return;
      }
      const type = types.get(field);
      const issues = type?.type === 'map' ? createKeySchema(type.keys, 'manifest').safeParse(member).error?.issues : [];
      for (const { message } of issues ?? [])
        context.addIssue({ code: 'custom', message: `is \`${path}\`, but its key ${message}`, params });
    })
    .meta({ anyOf: [{ enum: known }, ...(open.length === 0 ? [] : [{ pattern: `^(${open.join('|')})\\..` }])] })
    .describe('A field of spec, or a member of it as `field.member`: a key of a map, or a field of a module.');
}

function listMemberPaths(name: string, type: FieldType): readonly string[] {
  return type.type === 'object' ? Object.keys(type.fields).map((member) => `${name}.${member}`) : [];
}

/** Returns, for example, "one of `description`, `backends`, or a member of `backends` as `backends.MEMBER`". */
function describeIgnoredPaths(fields: readonly NamedField[]): string {
  const quote = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const names = fields.map(([name]) => name);
  const holders = fields.filter(([, { type }]) => HOLDERS.has(type.type)).map(([name]) => name);
  const whole = names.length === 1 ? quote(names) : `one of ${quote(names)}`;
  return holders.length === 0 ? whole : `${whole}, or a member: ${quote(holders.map((name) => `${name}.MEMBER`))}`;
}

/** Types whose values have members that can be left to others. */
const HOLDERS: ReadonlySet<FieldType['type']> = new Set(['object', 'map', 'metadata']);

/** Schema of `lint.allow`: exemptions from lint rules. The rule about unused exemptions allows no exemption. */
const ALLOW_SCHEMA = createAllowSchema();

function createAllowSchema(): z.ZodType {
  const ids = LINT_RULE_IDS.filter((id) => id !== 'suppression-unused');
  const allow = z.strictObject(Object.fromEntries(ids.map((id) => [id, createReasonSchema(id).optional()])));
  const schema = z
    .strictObject({ allow: allow.describe('Lint rules that do not apply here, each with the reason.') })
    .describe('Exemptions from lint rules.');
  return nameSharedSchema('Lint', schema);
}

function createReasonSchema(id: LintCode): z.ZodType {
  return z
    .string()
    .refine((reason) => /\S/.test(reason), { error: 'needs a reason', params: { code: 'bad-value' } })
    .meta({ pattern: '\\S' })
    .describe(`Reason for an exemption. The rule: ${LINT_CODES[id]}`);
}

function createAdoptSchema(kind: Kind): z.ZodType {
  const type = { prefixes: [kind.idPrefix] };
  const findFinding = (text: string): string | undefined => {
    if (isIdOf(type, text)) return undefined;
    return describeMalformedId(type, text) ?? `must be the id of a ${kind.title}, ${describeIdPrefixes(type)}`;
  };
  return createCheckedTextSchema(findFinding, `^${formatIdPattern(type)}$`);
}

function createExternalSchema(): z.ZodType {
  const description =
    'A name for the id of something that this stack does not manage. Other documents refer to it by this name.';
  const type = { prefixes: listAllIdPrefixes() };
  const findFinding = (text: string): string | undefined => {
    if (parseAddress(text)?.kind === 'External' || isIdOf(type, text)) return undefined;
    const ids = type.prefixes.map((prefix) => `${prefix}_`).join(', ');
    return describeMalformedId(type, text) ?? `must be External/name, or an id that starts with ${ids}`;
  };
  const id = createCheckedTextSchema(findFinding, `^(${formatIdPattern(type)}|External/.+)$`).describe(
    'The id, or the address of another External.',
  );
  const spec = z
    .strictObject({
      id: id.optional(),
      stack: createNameSchema()
        .optional()
        .describe('The stack that manages the resource. Set `resource` too, but not `id`.'),
      resource: createOtherStackAddressSchema().optional().describe('Address of the resource in `stack`: `Kind/name`.'),
    })
    .refine(({ id: own, stack, resource }) => (own ?? stack ?? resource) !== undefined, createMissingIssue('id'))
    .refine(({ stack, resource }) => stack === undefined || resource !== undefined, createMissingIssue('resource'))
    .refine(({ stack, resource }) => resource === undefined || stack !== undefined, createMissingIssue('stack'))
    .refine(({ id: own, stack }) => own === undefined || stack === undefined, {
      path: ['id'],
      error: 'cannot be used with spec.stack, which says where to find it',
      params: { code: 'bad-value' },
    })
    .meta({ minProperties: 1, dependentRequired: { stack: ['resource'], resource: ['stack'] } })
    .describe('An id, or a resource of another stack.');
  return z.strictObject({ ...createHeader('External', description), spec }).meta({ title: 'external id', description });
}

function createMissingIssue(name: string) {
  return { path: [name], error: 'is missing', params: { code: 'bad-field' } };
}

/** Schema of the address of a resource in another stack. */
function createOtherStackAddressSchema(): z.ZodType {
  const names = MANIFEST_KINDS.filter(({ role }) => role === 'owned').map(({ name }) => name);
  return z
    .string()
    .refine(
      (text) => names.includes(parseAddress(text)?.kind ?? '') && isResourceName(parseAddress(text)?.name ?? ''),
      {
        error: `must be Kind/name, where Kind is one of ${names.join(', ')}`,
        params: { code: 'bad-value' },
      },
    )
    .meta({ pattern: `^(${names.join('|')})/.+$`, examples: names.map((name) => `${name}/shop`) });
}

function createStackSchema(): z.ZodType {
  const description =
    'The name and the settings of a stack. A stack has one such document. The mark of every resource contains the name.';
  const former = createNameSchema();
  const metadata = NAMING_SCHEMA.extend({
    renamed_from: z
      .union([former, z.array(former).min(1)])
      .optional()
      .describe(
        'Former names of the stack. Resources with the mark of one of them that a document here describes, by kind and name, move to this stack. That needs consent: `--allow-take-over`.',
      ),
  }).describe('Name, former names, labels and annotations of the document.');
  return z
    .strictObject({ ...createHeader('Stack', description), metadata, spec: NULLISH_STACK_SPEC_SCHEMA })
    .meta({ title: 'stack', description });
}

function createDefaultsSchema(): z.ZodType {
  const description =
    'Settings for all stacks in the folder of this document and below. A Stack, and Defaults nearer to it, override them.';
  const { apiVersion, kind } = createHeader('Defaults', description);
  return z
    .strictObject({ apiVersion, kind, metadata: createUnusedMetadataSchema(), spec: NULLISH_STACK_SPEC_SCHEMA })
    .meta({ title: 'defaults', description });
}

function createPolicySchema(): z.ZodType {
  const description =
    'A rule of your own for the changes of a plan. `plan` and `apply` check it, and `validate` too if it needs no live values.';
  return z
    .strictObject({ ...createHeader('Policy', description), spec: POLICY_SPEC_SCHEMA })
    .meta({ title: 'policy', description });
}

function createPolicyTestSchema(): z.ZodType {
  const description = 'Unit tests of a policy. `edgewise test-policy` runs them; other commands ignore them.';
  return z
    .strictObject({ ...createHeader('PolicyTest', description), spec: POLICY_TEST_SPEC_SCHEMA })
    .meta({ title: 'policy test', description });
}
