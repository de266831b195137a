import { z } from 'zod';
import { assertDefined, assertNever } from '../model/errors.ts';
import { omitUndefined } from '../model/json.ts';
import { TOKEN_COMMAND_TIMEOUT_MS } from '../model/stack.ts';
import type { Setting, SettingType } from '../settings/setting.ts';
import { DURATION_TYPE, NAMED_SETTINGS, SETTING_GROUPS } from '../settings/table.ts';
import { COMMAND_LINES } from './findings.ts';
import { nameSharedSchema } from './text.ts';

/** The schema of `spec` of `Stack` and `Defaults`, derived from the table of settings. */

/** A setting that documents can set, with the rest of its path below the group that is created. */
interface PlacedSetting {
  readonly steps: readonly string[];
  readonly setting: Setting;
}

const PLACED: readonly PlacedSetting[] = NAMED_SETTINGS.flatMap((setting) =>
  setting.stack === undefined ? [] : [{ steps: setting.stack.split('.'), setting }],
);

/** Creates the schema of a mapping with settings. Groups in it are created where their first setting is. */
function createGroupSchema(settings: readonly PlacedSetting[], path: readonly string[]): z.ZodObject {
  const members = Map.groupBy(settings, ({ steps: [first = ''] }) => first);
  const shape = [...members].map(([name, placed]): [string, z.ZodType] => {
    const [{ setting, steps } = assertDefined(placed[0], 'a setting')] = placed;
    if (steps.length === 1) return [name, createSettingSchema(setting)];
    const inner = placed.map((one) => ({ ...one, steps: one.steps.slice(1) }));
    return [name, createGroupSchema(inner, [...path, name]).optional()];
  });
  const about = path.length === 0 ? 'Settings.' : assertDefined(SETTING_GROUPS[path.join('.')], `group ${path}`);
  return z.strictObject(Object.fromEntries(shape)).describe(about);
}

function createSettingSchema({ type, about, details, default: fallback }: Setting): z.ZodType {
  const schema = createSettingTypeSchema(type);
  // A default that is computed is in the description.
  const whole = fallback === undefined || typeof fallback === 'function' ? schema.optional() : schema.default(fallback);
  const sentence = `${about.charAt(0).toUpperCase()}${about.slice(1).replace(/[^.]$/, '$&.')}`;
  return whole.describe(details === undefined ? sentence : `${sentence} ${details}`);
}

function createSettingTypeSchema(type: SettingType): z.ZodType {
  switch (type.type) {
    case 'text':
      return createTextSettingSchema(type);
    case 'number': {
      const number = (type.isWhole ? z.int() : z.number()).min(type.min);
      return type.max === undefined ? number : number.max(type.max);
    }
    case 'boolean':
      return z.boolean();
    case 'enum':
      return type.title === undefined ? z.enum(type.values) : createSharedEnumSchema(type, type.title);
    case 'list': {
      const list = z.array(createSettingTypeSchema(type.of));
      return type.minItems > 0 ? list.min(type.minItems) : list;
    }
    case 'sink':
      return SINK_SCHEMA;
    case 'sinks':
      return z.record(z.string(), SINK_SCHEMA);
    default:
      return assertNever(type);
  }
}

function createTextSettingSchema({
  parse,
  expected,
  isOpen,
  pattern,
  examples,
}: Extract<SettingType, { type: 'text' }>): z.ZodType {
  const checked = isOpen
    ? z.string().min(1)
    : z.string().refine((text) => parse(text, '') !== undefined, {
        error: `must be ${expected}`,
        params: { code: 'bad-value' },
      });
  return checked.meta(omitUndefined({ pattern, examples }));
}

/** A file name that contains `{name}`, so that credentials do not share a file, and no slash. */
const TOKEN_FILE =
  /^(?:(?:[A-Za-z0-9_-]|\{(?:id|stack)\})(?:[A-Za-z0-9_.-]|\{(?:id|stack)\}){0,40})?\{name\}(?:[A-Za-z0-9_.-]|\{(?:name|id|stack)\}){0,40}$/;
const TOKEN_FILE_MESSAGE =
  'must be a file name that contains {name}, with letters, digits, `_`, `-`, `.`, {id} and {stack}';

function createDirectorySchema() {
  return z
    .strictObject({
      directory: z
        .string()
        .min(1)
        .describe(
          'Folder for one file per credential, relative to this file. Only the user who runs apply can read the files. {stack} is filled in.',
        ),
      file: z
        .string()
        .regex(TOKEN_FILE, { error: TOKEN_FILE_MESSAGE })
        .describe(
          'Name of each file. {name}, {id} and {stack} are filled in. With {id}, the file of an old credential stays beside that of the new one. Default: {name}.token.',
        )
        .optional(),
    })
    .describe('A folder with one file per credential.');
}

function createCommandSchema() {
  const timeout = z.string().refine((text) => DURATION_TYPE.parse(text, '') !== undefined, {
    error: `must be ${DURATION_TYPE.expected}`,
    params: { code: 'bad-value' },
  });
  const description =
    'Program and arguments, run without a shell in the folder of this file, with the token on standard input. {name}, {address}, {id} and {stack} are filled in.';
  return z
    .strictObject({
      command: createCommandLineSchema({ description }),
      test: createCommandLineSchema()
        .optional()
        .describe('Command that succeeds if tokens can be delivered. Runs before the first write.'),
      timeout: timeout.default(`${TOKEN_COMMAND_TIMEOUT_MS / 1000}s`).describe('Timeout of each command.'),
    })
    .describe('A command that reads the token from standard input. Only apply runs it.');
}

/** Schema of a program and its arguments. Registered last, because a description makes another schema. */
function createCommandLineSchema(meta: z.core.GlobalMeta = {}) {
  return z.array(z.string()).min(1).meta(meta).register(COMMAND_LINES, {});
}

const SHARED_ENUMS = new Map<SettingType, z.ZodType>();

/** Returns the one schema of a type that several settings have. */
function createSharedEnumSchema(type: Extract<SettingType, { type: 'enum' }>, title: string): z.ZodType {
  const schema = SHARED_ENUMS.get(type) ?? nameSharedSchema(title, z.enum(type.values));
  SHARED_ENUMS.set(type, schema);
  return schema;
}

/** Schema of a token sink. Parsing fills in the defaults. */
export const SINK_SCHEMA = nameSharedSchema('TokenSink', z.union([createDirectorySchema(), createCommandSchema()]));

/** Schema of the `spec` of a `Stack` and of a `Defaults`, which may be absent. */
export const NULLISH_STACK_SPEC_SCHEMA = nameSharedSchema(
  'Settings',
  createGroupSchema(PLACED, []).nullish().describe('Settings.'),
);
