import type { Argument, Command, Option } from 'commander';

/** What may stand in the place of a word that is being typed. */
export interface Completion {
  /** Whole words, those that begin with what was typed. */
  readonly candidates: readonly Candidate[];
  /** Paths of files may stand there too. The shell completes those. */
  readonly takesFiles: boolean;
}

/** A word, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** The placeholders of help texts, and the values that each can have. */
export interface Sources {
  /** Values by the placeholder of an option or the name of an argument: `<address>`, `kinds`. */
  readonly values: Readonly<Record<string, (context: WordContext) => readonly Candidate[]>>;
  /** Whether one stands for a path. */
  readonly isPath: (placeholder: string, context: WordContext) => boolean;
  /** Paths that begin with a text. For values behind a `=`, where shells complete no paths. */
  readonly listFiles: (start: string) => readonly string[];
}

/** What is known of the command line when a value is looked for. */
export interface WordContext {
  readonly command: Command;
  /** The arguments before it that belong to no option. */
  readonly operands: readonly string[];
  /** The options before it. */
  readonly given: ReadonlySet<Option>;
  /** As much of the value as was typed. */
  readonly start: string;
}

/** The words of a command line as far as they were typed, without the program's name; the last one is being typed. */
export function completeWords(program: Command, words: readonly string[], sources: Sources): Completion {
  const current = words.at(-1) ?? '';
  const place = findPlace(program, words.slice(0, -1));
  const { candidates, takesFiles } = completeAt(place, current, sources);
  return { candidates: candidates.filter(({ word }) => word.startsWith(current)), takesFiles };
}

/** Where on a command line a word stands. */
interface Place extends Omit<WordContext, 'start'> {
  /** The option whose value it is. */
  readonly option: Option | undefined;
  /** After `--` nothing is an option. */
  readonly isLiteral: boolean;
}

function findPlace(program: Command, before: readonly string[]): Place {
  let command = program;
  let option: Option | undefined;
  let isLiteral = false;
  const given = new Set<Option>();
  const operands: string[] = [];
  for (const word of before) {
    if (option !== undefined) option = undefined;
    else if (isLiteral || !word.startsWith('-') || word === '-') {
      const next = operands.length === 0 && !isLiteral ? findCommand(command, word) : undefined;
      if (next === undefined) operands.push(word);
      else command = next;
    } else if (word === '--') isLiteral = true;
    else {
      const found = findOption(command, word.split('=')[0] ?? '');
      if (found !== undefined) given.add(found);
      option = found !== undefined && takesValue(found) && !word.includes('=') ? found : undefined;
    }
  }
  return { command, option, given, operands, isLiteral };
}

const NOTHING: Completion = { candidates: [], takesFiles: false };

function completeAt(place: Place, current: string, sources: Sources): Completion {
  const { command, option, isLiteral } = place;
  if (option !== undefined) return completeValue(option, { place, start: current, lead: '' }, sources);
  if (isLiteral || !current.startsWith('-') || current === '-') {
    const operands = completeOperand(place, current, sources);
    if (current !== '-' || isLiteral) return operands;
    return { ...operands, candidates: [...operands.candidates, ...listOptions(place)] };
  }
  const at = current.indexOf('=');
  if (at < 0) return { candidates: listOptions(place), takesFiles: false };
  const named = findOption(command, current.slice(0, at));
  if (named === undefined || !takesValue(named)) return NOTHING;
  return completeValue(named, { place, start: current.slice(at + 1), lead: current.slice(0, at + 1) }, sources);
}

interface Typed {
  readonly place: Place;
  /** As much of the value as was typed. */
  readonly start: string;
  /** What stands before the value in the same word: `--format=`. */
  readonly lead: string;
}

function completeValue(option: Option, { place, start, lead }: Typed, sources: Sources): Completion {
  const placeholder = /<.+>/.exec(option.flags)?.[0] ?? '';
  const said = listValues(option, placeholder, { ...place, start }, sources);
  // `--report json=FILE`: the form is known, the file is not.
  const inner = /^([\w-]+=)(.*)$/.exec(start);
  const isInFile = placeholder.endsWith('=file>') && inner !== null;
  if (isInFile) return toFiles(`${lead}${inner[1] ?? ''}`, inner[2] ?? '', sources);
  const candidates = said.map(({ word, about }) => ({ word: `${lead}${word}`, about }));
  if (!sources.isPath(placeholder, { ...place, start })) return { candidates, takesFiles: false };
  return lead === '' ? { candidates, takesFiles: true } : toFiles(lead, start, sources);
}

function toFiles(lead: string, start: string, { listFiles }: Sources): Completion {
  return { candidates: listFiles(start).map((path) => ({ word: `${lead}${path}`, about: '' })), takesFiles: false };
}

function completeOperand(place: Place, current: string, sources: Sources): Completion {
  const { command, operands } = place;
  const commands = operands.length === 0 ? listCommands(command) : [];
  const argument = findArgument(command, operands.length);
  if (argument === undefined) return { candidates: commands, takesFiles: false };
  const context = { ...place, start: current };
  const said = listValues(argument, argument.name(), context, sources);
  const isNew = ({ word }: Candidate): boolean => word === current || !operands.includes(word);
  return { candidates: [...commands, ...said.filter(isNew)], takesFiles: sources.isPath(argument.name(), context) };
}

/** The last argument may stand for all that follow. */
function findArgument({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined);
}

function listValues(
  { argChoices }: Pick<Option | Argument, 'argChoices'>,
  placeholder: string,
  context: WordContext,
  { values }: Sources,
): readonly Candidate[] {
  if (argChoices !== undefined) return argChoices.map((word) => ({ word, about: '' }));
  return Object.hasOwn(values, placeholder) ? (values[placeholder]?.(context) ?? []) : [];
}

/** Every command that is shown in help, and every option that was not given yet or may be repeated. */
function listCommands(command: Command): readonly Candidate[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.map((one) => ({ word: one.name(), about: one.summary() || one.description() }));
}

function listOptions({ command, given }: Place): readonly Candidate[] {
  const shown = command.createHelp().visibleOptions(command);
  const open = shown.filter((option) => Array.isArray(option.defaultValue) || !given.has(option));
  return open.map(({ long, short, description }) => ({ word: long ?? short ?? '', about: description }));
}

function findCommand({ commands }: Command, word: string): Command | undefined {
  return commands.find((one) => one.name() === word || one.aliases().includes(word));
}

function findOption({ options }: Command, name: string): Option | undefined {
  return options.find(({ long, short }) => long === name || short === name);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}
