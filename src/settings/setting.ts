import type { Json } from '../model/json.ts';

/**
 * The vocabulary of the table of settings. Options and their help, `explain settings`, the schema of `Stack` and
 * `Defaults`, the options of the library and the resolved values are derived from these values.
 */

/** The type of a setting. Texts of flags and variables, and values of documents and programs, have the same type. */
export type SettingType =
  | TextSettingType
  | NumberSettingType
  | { readonly type: 'boolean' }
  | EnumSettingType
  | ListSettingType
  /** A token sink: a folder, or a command that reads the token. */
  | { readonly type: 'sink' }
  /** A mapping from names to token sinks. Documents add to it, name by name. */
  | { readonly type: 'sinks' };

export interface TextSettingType<Value = unknown> {
  readonly type: 'text';
  /** Parses the text. `by`: the flag or variable that sets it. Returns `undefined` if it is not valid. */
  readonly parse: (text: string, by: string) => Value | undefined;
  /** Completes "must be". */
  readonly expected: string;
  /** Whether every text is valid that is not empty. */
  readonly isOpen?: true | undefined;
  /** For editors. May accept more than `parse`. */
  readonly pattern?: string | undefined;
  readonly examples?: readonly string[] | undefined;
  /** Whether the text is a path. In a document, it is relative to the folder of the document. */
  readonly isPath?: boolean | undefined;
  /** Whether messages may quote the text. False if it may contain a password. Default: true. */
  readonly isQuotable?: boolean | undefined;
}

export interface NumberSettingType {
  readonly type: 'number';
  readonly isWhole: boolean;
  readonly min: number;
  /** Absent: no limit. */
  readonly max?: number | undefined;
}

export interface EnumSettingType<Word extends string = string> {
  readonly type: 'enum';
  readonly values: readonly Word[];
  /** The name of the schema, for a type that several settings have. */
  readonly title?: string | undefined;
}

export interface ListSettingType<Of extends TextSettingType | EnumSettingType = TextSettingType | EnumSettingType> {
  readonly type: 'list';
  readonly of: Of;
  readonly minItems: number;
}

/** A value of this type, as the program uses it. */
export type ValueOfType<Type> =
  Type extends TextSettingType<infer Value>
    ? Value
    : Type extends NumberSettingType
      ? number
      : Type extends EnumSettingType<infer Word>
        ? Word
        : Type extends { readonly type: 'boolean' }
          ? boolean
          : Type extends ListSettingType<infer Of>
            ? readonly ValueOfType<Of>[]
            : Json;

/** A value of this type, as a document or a program sets it. */
export type GivenOfType<Type> = Type extends NumberSettingType ? number : Type extends TextSettingType ? string : Json;

/**
 * Help topics about options that many commands share and most runs do not need. The help of a command lists only the
 * names of these options.
 */
export const OPTION_TOPIC_NAMES = ['connection', 'many-stacks', 'safety', 'tokens', 'trust'] as const;

/** A topic, which is also the help group of its options. */
export type OptionTopic = (typeof OPTION_TOPIC_NAMES)[number];

/** A setting of a run: every way to set it, and what is said about it. */
export interface Setting {
  readonly type: SettingType;
  /** What it is, as a phrase for lists. Schemas show it as a sentence. */
  readonly about: string;
  /** More sentences for the schema. */
  readonly details?: string | undefined;
  /** The flag that sets the value, such as `--base-url <url>`. */
  readonly flag?: string | undefined;
  /** The help topic of the flag. Absent: the help of each command explains the flag. */
  readonly topic?: OptionTopic | undefined;
  /** The description of the flag. Absent: `about`, and the other ways to set the value. */
  readonly flagAbout?: string | undefined;
  /** The flag with which a user consents to more than the setting allows. */
  readonly consent?: string | undefined;
  /** Environment variables. The first that is set counts. */
  readonly variables?: readonly string[] | undefined;
  /** Path below `spec` of a `Stack` or `Defaults`. */
  readonly stack?: string | undefined;
  /** Path below `spec` that the flag replaces. */
  readonly replaces?: string | undefined;
  /** The value if nothing sets it, as in a document. A function: it depends on the base URL. */
  readonly default?: Json | ((baseUrl: string) => Json) | undefined;
  /** The default in help texts. Absent: `default` itself. */
  readonly defaultText?: string | undefined;
  /** Whether an untrusted document may not decide the value, because it says where the API key goes or how fast. */
  readonly needsTrust?: true | undefined;
  /** The help topic that lists the setting. Absent: only `edgewise explain Stack` has it. */
  readonly help?: 'connection' | 'settings' | undefined;
}

/** Creates the type of a text that `parse` reads. */
export function defineText<Value>(
  parse: TextSettingType<Value>['parse'],
  expected: string,
  options: Omit<TextSettingType, 'type' | 'parse' | 'expected'> = {},
): TextSettingType<Value> {
  return { type: 'text', parse, expected, ...options };
}

/** Creates the type of any text that is not empty. */
export function defineOpenText(options: Pick<TextSettingType, 'examples' | 'isPath'> = {}): TextSettingType<string> {
  return defineText((text) => text || undefined, 'a text that is not empty', { isOpen: true, ...options });
}

export const TEXT = defineOpenText();

/** The path of a file or a folder, or a pattern of such paths. */
export const PATH = defineOpenText({ isPath: true });

export const BOOLEAN = { type: 'boolean' } as const;
export const SINK_TYPE = { type: 'sink' } as const;
export const SINKS_TYPE = { type: 'sinks' } as const;

/** Creates the type of a whole number from `min` to `max`. */
export function defineWholeNumber(min: number, max?: number): NumberSettingType {
  return { type: 'number', isWhole: true, min, max };
}

/** Creates the type of a share, 0 to 1. */
export const SHARE: NumberSettingType = { type: 'number', isWhole: false, min: 0, max: 1 };

export function defineEnum<const Word extends string>(...values: readonly Word[]): EnumSettingType<Word> {
  return { type: 'enum', values };
}

export function defineList<const Of extends TextSettingType | EnumSettingType>(
  of: Of,
  minItems = 0,
): ListSettingType<Of> {
  return { type: 'list', of, minItems };
}
