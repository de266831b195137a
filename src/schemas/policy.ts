import { z } from 'zod';
import { MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { CHANGE_ACTIONS } from '../model/change.ts';
import { DANGER_GROUP_NAMES, DANGER_NAMES } from '../model/danger.ts';
import { EXPECTED_RESULTS } from '../model/policy.ts';
import { ANY_JSON_SCHEMA, createTimestampSchema } from './text.ts';

const MATCH_SCHEMA = z
  .strictObject({
    kinds: z
      .array(z.enum(MANIFEST_KINDS.map(({ name }) => name)))
      .min(1)
      .optional()
      .describe('Kinds of resources. Default: every kind with all `before` and `after` fields that the rule uses.'),
    actions: z
      .array(z.enum(CHANGE_ACTIONS))
      .min(1)
      .optional()
      .describe(
        'Actions on resources. Default: all of them. A rule that uses `after` applies only to resources that exist afterwards. A rule that uses `before` applies only to resources that exist now.',
      ),
    danger: z
      .array(z.enum([...DANGER_GROUP_NAMES, ...DANGER_NAMES]))
      .min(1)
      .optional()
      .describe('Changes with one of these dangers, or with a danger of one of these groups.'),
    labels: z
      .record(z.string(), z.union([z.string(), z.array(z.string()).min(1)]))
      .optional()
      .describe('Labels of the manifest, each with its allowed value or list of allowed values.'),
    stacks: z.array(z.string().min(1)).min(1).optional().describe('Names of stacks. `*` matches any text.'),
  })
  .describe('The changes that the rule applies to. A change must match every field here. Default: all changes.');

/** Schema of the `spec` of a `Policy`. Parsing fills in the defaults. `src/policy` checks the expressions. */
export const POLICY_SPEC_SCHEMA = z
  .strictObject({
    match: MATCH_SCHEMA.prefault({}),
    require: z
      .string()
      .min(1)
      .meta({ examples: ['"team" in labels', 'size(after.acl) > 0'] })
      .describe(
        'CEL expression that must be true for each matching change. It can use change, before, after, labels, annotations, plan, stack and now.',
      ),
    message: z
      .string()
      .min(1)
      .meta({ examples: [`\${change.address} has no team.`] })
      .describe(
        `The text of the finding. A part in \`\${}\` is a CEL expression with the variables of \`require\`; \`$\${\` is a literal \`\${\`.`,
      ),
    severity: z
      .enum(['error', 'warning'])
      .default('error')
      .describe(
        '`error`: the finding blocks the plan, and no flag allows it. `warning`: the finding is only reported.',
      ),
  })
  .describe('The rule.');

const createObjectSchema = () => z.record(z.string(), ANY_JSON_SCHEMA);
const createTextsSchema = () => z.record(z.string(), z.string());

const GIVEN_SCHEMA = z
  .strictObject({
    change: z
      .looseObject({
        kind: z.enum(MANIFEST_KINDS.map(({ name }) => name)).describe('Kind of the resource.'),
        action: z.enum(CHANGE_ACTIONS).describe('What the plan does with the resource.'),
      })
      .describe('The change, as in a plan. Fields that are left out are empty.'),
    before: createObjectSchema().optional().describe('Fields of the live resource. Defaults are filled in.'),
    after: createObjectSchema().optional().describe('Fields of the resource afterwards. Defaults are filled in.'),
    labels: createTextsSchema().optional().describe('Labels of the manifest.'),
    annotations: createTextsSchema().optional().describe('Annotations of the manifest.'),
    plan: createObjectSchema().optional().describe('Fields of the whole plan, such as `totals`.'),
    stack: createObjectSchema().optional().describe('The Stack: `name`, `labels`, `annotations`.'),
    now: createTimestampSchema('manifest')
      .optional()
      .describe('The value of `now` in expressions. Default: the start of 2026.'),
  })
  .describe('The values that the expressions of the policy use.');

const CASE_SCHEMA = z
  .strictObject({
    name: z.string().min(1).describe('Name of the case, which says what it tests.'),
    given: GIVEN_SCHEMA,
    expect: z
      .enum(EXPECTED_RESULTS)
      .describe(
        'The expected result. `allow`: the rule is true. `refuse` and `warn`: it is false, and the severity is `error` or `warning`. `no-match`: the policy does not apply to the change.',
      ),
    message: z.string().min(1).optional().describe('Text that the message must contain.'),
  })
  .describe('A change, and the expected result of the policy.');

export const POLICY_TEST_SPEC_SCHEMA = z
  .strictObject({
    policy: z.string().min(1).describe('Name of the Policy that the cases test.'),
    cases: z.array(CASE_SCHEMA).min(1).describe('The cases. Each is a unit test.'),
  })
  .describe('Test cases for a policy.');
