import type { Argument, Command, Option } from 'commander';
import { listTopics } from '../../../explain/explain.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { MANIFEST_KINDS, OWNED_KINDS } from '../../../kinds/tables/registry.ts';
import { checkKindHasReadableField } from '../../../report/machine/inventory.ts';
import { PUBLISHED_SCHEMAS } from '../../../schemas/published.ts';
import { GET_FORMATS } from '../get.ts';
import { TOPIC_NAMES } from '../help.ts';

/**
 * What a command line may have at each place, from the definitions of the commands. The scripts of `edgewise completion`
 * contain it. Only what manifests name is left to ask edgewise for, when the user presses tab.
 */

export interface CommandLine {
  /** The program, and all visible commands. */
  readonly commands: readonly CompletedCommand[];
  /** What may be at a place. Commands name it by its index, because many have the same places. */
  readonly places: readonly CompletedPlace[];
}

/** A command. The program itself is the one without names. */
export interface CompletedCommand {
  /** Such as `abuse-report` and `submit`. */
  readonly names: readonly string[];
  readonly commands: readonly CompletedWord[];
  readonly options: readonly CompletedOption[];
  /** The places of its operands. */
  readonly operands: readonly number[];
  /** Whether the last operand can be repeated. */
  readonly isVariadic: boolean;
}

export interface CompletedOption {
  readonly long: string;
  readonly short: string | undefined;
  readonly about: string;
  readonly isRepeated: boolean;
  /** The place of its value. Absent: it takes none. */
  readonly value: number | undefined;
}

export interface CompletedWord {
  readonly word: string;
  readonly about: string;
}

/** What may be at one place of the command line. */
export interface CompletedPlace {
  readonly words: readonly CompletedWord[];
  /** What edgewise is asked for, because it is in manifests. */
  readonly asked?: AskedWords | undefined;
  /** `after`: behind a word, such as `json=`. */
  readonly files?: 'here' | 'after' | undefined;
  /** What divides the words into parts, of which one is completed at a time. */
  readonly separator?: '.' | '=' | undefined;
}

export const ASKED_WORDS = ['addresses', 'stacks'] as const;

export type AskedWords = (typeof ASKED_WORDS)[number];

export function describeCommandLine(program: Command): CommandLine {
  const places = new Map<string, CompletedPlace>();
  const toIndex = (place: CompletedPlace): number => {
    const key = JSON.stringify(place);
    places.set(key, place);
    return [...places.keys()].indexOf(key);
  };
  const listBelow = (command: Command, names: readonly string[]): readonly CompletedCommand[] => {
    const help = command.createHelp();
    const inner = help.visibleCommands(command);
    const described: CompletedCommand = {
      names,
      commands: inner.map((one) => ({ word: one.name(), about: one.summary() || one.description() })),
      options: help.visibleOptions(command).map((option) => ({
        long: option.long ?? '',
        short: option.short,
        about: option.description,
        isRepeated: Array.isArray(option.defaultValue),
        value: option.required || option.optional ? toIndex(describeValue(option, command)) : undefined,
      })),
      operands: command.registeredArguments.map((argument) => toIndex(describeArgument(argument, program))),
      isVariadic: command.registeredArguments.at(-1)?.variadic === true,
    };
    return [described, ...inner.flatMap((one) => listBelow(one, [...names, one.name()]))];
  };
  const commands = listBelow(program, []);
  return { commands, places: [...places.values()] };
}

function describeValue({ argChoices, flags }: Option, command: Command): CompletedPlace {
  if (argChoices !== undefined) return { words: toWords(argChoices) };
  switch (/<.+>/.exec(flags)?.[0]) {
    case '<address>':
      return { words: [], asked: 'addresses' };
    case '<format>':
      return { words: [...toWords([...GET_FORMATS, 'value=']), ...listValueFormats()], separator: '=' };
    case '<format=file>': {
      const formats = findOption(command, '--format')?.argChoices ?? [];
      return { words: toWords(formats.map((format) => `${format}=`)), files: 'after' };
    }
    case '<name>':
      return selectsStacks(command) ? { words: [], asked: 'stacks' } : { words: [] };
    case '<url>':
      return { words: toWords(['embedded:']) };
    case '<file>':
    case '<path>':
    case '<folder>':
    case '<plan>':
      return { words: [], files: 'here' };
    default:
      return { words: [] };
  }
}

/** Whether `--stack NAME` selects existing stacks. Does not require `-R`, because the user may add it later. */
function selectsStacks(command: Command): boolean {
  return command.name() === 'stacks' || findOption(command, '--recursive') !== undefined;
}

export function findOption({ options }: Command, name: string): Option | undefined {
  return options.find(({ long, short }) => long === name || short === name);
}

/** The formats of `get` that print one field. */
function listValueFormats(): readonly CompletedWord[] {
  const fields = MANIFEST_KINDS.flatMap((kind) =>
    Object.entries(kind.fields).filter(([name]) => checkKindHasReadableField(kind, [name]) === undefined),
  );
  const abouts = new Map(fields.map(([name, { description }]) => [name, description]));
  return Array.from(abouts, ([name, about]) => ({ word: `value=${name}`, about }));
}

function describeArgument(argument: Argument, program: Command): CompletedPlace {
  if (argument.argChoices !== undefined) return { words: toWords(argument.argChoices) };
  switch (argument.name()) {
    case 'address':
    case 'names-and-paths':
      return { words: [], asked: 'addresses', files: 'here' };
    case 'addresses':
      return { words: toKindWords(MANIFEST_KINDS), asked: 'addresses', files: 'here' };
    case 'names':
      return { words: toKindWords(OWNED_KINDS) };
    case 'name':
      return {
        words: [...toKindWords(MANIFEST_KINDS), ...PUBLISHED_SCHEMAS.map(({ name, about }) => ({ word: name, about }))],
      };
    case 'topic':
      return { words: listTopics().map(({ name, sentence }) => ({ word: name, about: sentence })), separator: '.' };
    case 'words': {
      const commands = program.createHelp().visibleCommands(program);
      return { words: toWords([...commands.map((one) => one.name()), ...TOPIC_NAMES]) };
    }
    case 'paths':
    case 'folder':
    case 'plan':
    case 'report':
    case 'root':
      return { words: [], files: 'here' };
    default:
      return { words: [] };
  }
}

function toWords(words: readonly string[]): readonly CompletedWord[] {
  return words.map((word) => ({ word, about: '' }));
}

function toKindWords(kinds: readonly Kind[]): readonly CompletedWord[] {
  return kinds.map(({ name, title }) => ({ word: name, about: title }));
}
