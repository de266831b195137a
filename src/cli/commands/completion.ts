import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Argument, type Command, type Option } from 'commander';
import { listFieldsOfTopic, type TopicSummary } from '../../explain/explain.ts';
import type { Kind } from '../../kinds/kind.ts';
import { MANIFEST_KINDS, OWNED_KINDS } from '../../kinds/tables/registry.ts';
import { loadManifestsWithFindings, parseAddressesForCompletion } from '../../manifest/load.ts';
import { parseAddress } from '../../model/address.ts';
import { DIAGNOSTIC_CODES } from '../../model/diagnostic.ts';
import { hasJobCommand } from '../../model/job-commands.ts';
import { toPrintable } from '../../model/printable.ts';
import { checkKindHasReadableField } from '../../report/machine/inventory.ts';
import { indexStackNames } from '../../repository/read-stack-tree.ts';
import { PUBLISHED_SCHEMAS } from '../../schemas/published.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { GET_FORMATS, isKindName, isResourceAddress, isResourceId } from './get.ts';
import { TOPIC_NAMES } from './help.ts';
import { addToCommand } from './options.ts';

export function configureCompletionCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Print a script for shell completion of commands, options, values, files and addresses.')
    .addArgument(new Argument('<shell>', 'the shell that reads the script').choices(SHELLS));
  addToCommand(command, {
    exitCodes: [EXIT.success, EXIT.invalid],
    examples: [
      ['edgewise completion fish > ~/.config/fish/completions/edgewise.fish', 'once'],
      ['source <(edgewise completion bash)', 'in ~/.bashrc'],
      ['source <(edgewise completion zsh)', 'in ~/.zshrc, after compinit'],
    ],
  }).action((shell: Shell) =>
    act(TEXT_ONLY_FORMAT_FLAGS, async ({ stdout }) => {
      stdout.write(SCRIPTS[shell]);
      return EXIT.success;
    }),
  );
}

/** Defines the hidden command that the scripts of `edgewise completion` call. */
export function configureWordCompletionCommand(command: Command, act: CommandBodyRunner, program: Command): void {
  command
    .argument('[words...]')
    .helpOption(false)
    .action((words: string[]) => act(TEXT_ONLY_FORMAT_FLAGS, (context) => complete(program, words, context)));
}

/** Writes the candidates for the last word. Shows no errors, because the user is still typing. */
async function complete(program: Command, words: readonly string[], context: Context): Promise<ExitCode> {
  const { candidates, takesFiles } = await completeWords(program, words, context).catch(() => NO_COMPLETION);
  // A word with a line break would be two candidates, a terminal acts on control characters, and an escape of a job
  // command would make it another word.
  const shown = candidates.filter(({ word }) => toPrintable(word) === word && !hasJobCommand(word));
  const lines = shown.map(({ word, about }) => `${word}\t${toPrintable(about.replace(/\s+/g, ' '))}\n`);
  context.stdout.write(`${lines.join('')}${takesFiles ? ':files\n' : ''}`);
  return EXIT.success;
}

interface Completion {
  /** Whole words that begin with the typed text. */
  readonly candidates: readonly CompletionCandidate[];
  /** Whether the word may also be a path. If so, the shell completes paths itself. */
  readonly takesFiles: boolean;
}

interface CompletionCandidate {
  readonly word: string;
  readonly about: string;
}

const NO_COMPLETION: Completion = { candidates: [], takesFiles: false };

/** `words` is the command line typed so far, without the program name. Completes its last word. */
async function completeWords(program: Command, words: readonly string[], context: Context): Promise<Completion> {
  const current = words.at(-1) ?? '';
  const { candidates, takesFiles } = await completeAt(parsePlace(program, words.slice(0, -1)), current, context);
  return { candidates: candidates.filter(({ word }) => word.startsWith(current)), takesFiles };
}

/** What the words before the current one say. */
interface WordPlace {
  readonly program: Command;
  readonly command: Command;
  /** The words before it, without commands, options and the values of options. */
  readonly operands: readonly string[];
  /** The options before it. */
  readonly given: ReadonlySet<Option>;
  /** The option that needs a value next. `undefined`: the next word is not the value of an option. */
  readonly option: Option | undefined;
  /** True after `--`: no later word is an option. */
  readonly isLiteral: boolean;
}

function parsePlace(program: Command, before: readonly string[]): WordPlace {
  const start = { program, command: program, operands: [], given: new Set<Option>(), option: undefined };
  return before.reduce(addWord, { ...start, isLiteral: false });
}

function addWord(place: WordPlace, word: string): WordPlace {
  const { command, operands, given, option, isLiteral } = place;
  if (option !== undefined) return { ...place, option: undefined };
  if (word === '--' && !isLiteral) return { ...place, isLiteral: true };
  if (isOptionWord(word) && !isLiteral) {
    const found = findOption(command, word.split('=')[0] ?? '');
    if (found === undefined) return place;
    const needsValue = takesValue(found) && !word.includes('=');
    return { ...place, given: new Set([...given, found]), option: needsValue ? found : undefined };
  }
  const mayBeCommand = operands.length === 0 && !isLiteral;
  const next = mayBeCommand ? command.commands.find((one) => one.name() === word) : undefined;
  return next === undefined ? { ...place, operands: [...operands, word] } : { ...place, command: next };
}

/** A single dash is an operand: standard input. */
function isOptionWord(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

function findOption({ options }: Command, name: string): Option | undefined {
  return options.find(({ long, short }) => long === name || short === name);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

async function completeAt(place: WordPlace, current: string, context: Context): Promise<Completion> {
  const { command, option, isLiteral } = place;
  if (option !== undefined) return completeValue(option, { place, start: current, lead: '' }, context);
  if (isLiteral || !isOptionWord(current)) {
    const operands = await completeOperand(place, current, context);
    if (current !== '-' || isLiteral) return operands;
    return { ...operands, candidates: [...operands.candidates, ...listOptions(place)] };
  }
  const at = current.indexOf('=');
  if (at < 0) return { candidates: listOptions(place), takesFiles: false };
  const named = findOption(command, current.slice(0, at));
  if (named === undefined || !takesValue(named)) return NO_COMPLETION;
  return completeValue(named, { place, start: current.slice(at + 1), lead: current.slice(0, at + 1) }, context);
}

/** Lists the options that are not on the command line yet, or can be repeated. */
function listOptions({ command, given }: WordPlace): readonly CompletionCandidate[] {
  const shown = command.createHelp().visibleOptions(command);
  const open = shown.filter((option) => Array.isArray(option.defaultValue) || !given.has(option));
  return open.map(({ long, short, description }) => ({ word: long ?? short ?? '', about: description }));
}

interface TypedValue {
  readonly place: WordPlace;
  /** The typed part of the value. */
  readonly start: string;
  /** The text before the value in the same word, such as `--format=`. */
  readonly lead: string;
}

async function completeValue(option: Option, value: TypedValue, context: Context): Promise<Completion> {
  const { place, start, lead } = value;
  const placeholder = /<.+>/.exec(option.flags)?.[0] ?? '';
  // In `--report json=FILE`, the format is already typed, so complete the path.
  const [, format, path] = (placeholder.endsWith('=file>') && /^([\w-]+=)(.*)$/.exec(start)) || [];
  if (path !== undefined) return { ...NO_COMPLETION, candidates: listFiles(`${lead}${format}`, path, context) };
  if (!PATH_NAMES.has(placeholder)) {
    const candidates = await listWordValues(option, placeholder, { ...place, start }, context);
    return { ...NO_COMPLETION, candidates: candidates.map(({ word, about }) => ({ word: `${lead}${word}`, about })) };
  }
  // Shells do not complete paths after a `=`.
  return lead === ''
    ? { ...NO_COMPLETION, takesFiles: true }
    : { ...NO_COMPLETION, candidates: listFiles(lead, start, context) };
}

async function completeOperand(place: WordPlace, current: string, context: Context): Promise<Completion> {
  const { command, operands } = place;
  const commands = operands.length === 0 ? command.createHelp().visibleCommands(command) : [];
  const named = commands.map((one) => ({ word: one.name(), about: one.summary() || one.description() }));
  const argument = findArgument(command, operands.length);
  if (argument === undefined) return { candidates: named, takesFiles: false };
  const said = await listWordValues(argument, argument.name(), { ...place, start: current }, context);
  const open = said.filter(({ word }) => word === current || !operands.includes(word));
  return { candidates: [...named, ...open], takesFiles: PATH_NAMES.has(argument.name()) };
}

/** Finds the argument at an index. A variadic last argument also takes all later words. */
function findArgument({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined);
}

/** Placeholders of options, and names of arguments, whose values are paths. */
const PATH_NAMES: ReadonlySet<string> = new Set([
  ...['<file>', '<path>', '<folder>', '<plan>'],
  ...['paths', 'folder', 'plan', 'report', 'address', 'addresses'],
]);

/** Lists the paths that begin with `start`. Folders end with a slash. Hidden files need a leading dot in `start`. */
function listFiles(lead: string, start: string, { cwd }: Pick<Context, 'cwd'>): readonly CompletionCandidate[] {
  const at = start.lastIndexOf('/') + 1;
  const [folder, name] = [start.slice(0, at), start.slice(at)];
  return readdirSync(resolve(cwd, folder), { withFileTypes: true })
    .filter((entry) => entry.name.startsWith(name) && (name.startsWith('.') || !entry.name.startsWith('.')))
    .map((entry) => ({ word: `${lead}${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`, about: '' }));
}

/** A value to complete. `start`: the typed part of it. */
type ValuePlace = WordPlace & Pick<TypedValue, 'start'>;

/** Lists the values of an option or argument: its choices, or what `VALUES` says of its placeholder or name. */
async function listWordValues(
  { argChoices }: Pick<Option | Argument, 'argChoices'>,
  name: string,
  place: ValuePlace,
  context: Context,
): Promise<readonly CompletionCandidate[]> {
  if (argChoices !== undefined) return toCandidates(argChoices);
  return Object.hasOwn(VALUES, name) ? ((await VALUES[name]?.(place, context)) ?? []) : [];
}

type ListWordValues = (
  place: ValuePlace,
  context: Context,
) => readonly CompletionCandidate[] | Promise<readonly CompletionCandidate[]>;

/** Maps an option's placeholder or an argument's name to its values. Only addresses and stack names need files. */
const VALUES: Readonly<Record<string, ListWordValues>> = {
  '<address>': listManifestAddresses,
  '<format>': listFormats,
  '<format=file>': ({ command }) =>
    toCandidates((findOption(command, '--format')?.argChoices ?? []).map((format) => `${format}=`)),
  '<name>': listStackNames,
  '<url>': () => toCandidates(['embedded:']),
  address: listManifestAddresses,
  addresses: async (place, context) => [
    ...(await listManifestAddresses(place, context)),
    ...toKindCandidates(MANIFEST_KINDS),
  ],
  names: () => toKindCandidates(OWNED_KINDS),
  name: () => [
    ...toKindCandidates(MANIFEST_KINDS),
    ...PUBLISHED_SCHEMAS.map(({ name, about }) => ({ word: name, about })),
  ],
  topic: ({ start }) => [
    ...listFieldsOfTopic(start.slice(0, Math.max(start.lastIndexOf('.'), 0))).map(toTopicCandidate),
    ...toKindCandidates(MANIFEST_KINDS),
    ...Object.entries(DIAGNOSTIC_CODES).map(([word, about]) => ({ word, about })),
  ],
  words: ({ program }) =>
    toCandidates([
      ...program
        .createHelp()
        .visibleCommands(program)
        .map((one) => one.name()),
      ...TOPIC_NAMES,
    ]),
};

/** Maximum time to search manifests for addresses or stack names. The user would notice a longer delay. */
const SEARCH_LIMIT_MS = 300;

/** Lists the addresses in the manifests on the command line, by default in those of the working folder. */
async function listManifestAddresses(
  { operands }: WordPlace,
  { cwd, uid, now }: Context,
): Promise<readonly CompletionCandidate[]> {
  const until = now().getTime() + SEARCH_LIMIT_MS;
  const named = listManifestPaths(operands);
  const given = named.length === 0 ? ['.'] : named;
  const { sources } = await loadManifestsWithFindings(given, { cwd, uid, readStdin: async () => new Uint8Array() });
  return toCandidates(parseAddressesForCompletion(sources, () => now().getTime() > until));
}

/**
 * Lists the stacks below the folder on the command line, for commands whose `--stack NAME` selects existing stacks. Does
 * not require `-R`, because the user may add it later.
 */
function listStackNames({ command, operands }: WordPlace, { cwd, uid, now }: Context): readonly CompletionCandidate[] {
  if (command.name() !== 'stacks' && findOption(command, '--recursive') === undefined) return [];
  const until = now().getTime() + SEARCH_LIMIT_MS;
  const [root = '.'] = listManifestPaths(operands);
  const names = indexStackNames(root, { cwd, uid }, () => now().getTime() > until);
  return Array.from(names, ([word, about]) => ({ word, about }));
}

function listManifestPaths(operands: readonly string[]): readonly string[] {
  return operands.filter(
    (word) => !isResourceAddress(word) && !isResourceId(word) && !isKindName(word) && word !== '-',
  );
}

function toCandidates(words: readonly string[]): readonly CompletionCandidate[] {
  return words.map((word) => ({ word, about: '' }));
}

function toTopicCandidate({ name, sentence }: TopicSummary): CompletionCandidate {
  return { word: name, about: sentence };
}

function toKindCandidates(kinds: readonly Kind[]): readonly CompletionCandidate[] {
  return kinds.map(({ name, title }) => ({ word: name, about: title }));
}

/**
 * Lists the values of `--format` of `get`: the formats or, after `value=`, the fields of the named kinds. If no kind is
 * named, lists the fields of every kind.
 */
function listFormats({ start, operands }: ValuePlace): readonly CompletionCandidate[] {
  if (!start.startsWith(VALUE)) return toCandidates([...GET_FORMATS, VALUE]);
  const named = new Set(operands.map((word) => parseAddress(word)?.kind ?? word));
  const kinds = MANIFEST_KINDS.filter(({ name }) => named.has(name));
  const fields = (kinds.length === 0 ? MANIFEST_KINDS : kinds).flatMap((kind) =>
    Object.entries(kind.fields).filter(([name]) => checkKindHasReadableField(kind, [name]) === undefined),
  );
  const abouts = new Map(fields.map(([name, { description }]) => [name, description]));
  return Array.from(abouts, ([name, about]) => ({ word: `${VALUE}${name}`, about }));
}

const VALUE = 'value=';
/**
 * Scripts that a shell runs when the user presses tab. They call `edgewise __complete`, which prints one candidate per
 * line: the whole word, a tab, and the meaning of the word. The line `:files` means that the word may also be a path,
 * which the shell completes itself. The scripts leave out names such as `--yes`, which edgewise would take for options.
 */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

/**
 * Bash splits words at `=` and `:`, and a candidate replaces only the last part. So the script removes the preceding
 * parts from each candidate. Bash inserts a candidate as it is, so the script quotes it. Words on the command line may
 * have backslashes, which `read` removes without running anything; in a word with quotes, bash completes only paths. The
 * script works with bash 3.2, which has no `compopt`.
 */
const BASH = String.raw`# Completion of edgewise for bash. In ~/.bashrc: source <(edgewise completion bash)
_edgewise_quote() {
  COMPREPLY+=("$(printf %q "$1")")
}
_edgewise() {
  local i word about joined= files= line
  local -a words=()
  local cur=${'$'}{COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  compopt -o default 2>/dev/null
  [[ $cur == *[\'\"]* ]] && return
  for ((i = 1; i <= COMP_CWORD; i++)); do
    IFS= read word <<< "${'$'}{COMP_WORDS[i]}"
    if ((${'$'}{#words[@]} > 0)) && [[ $joined || $word == [=:]* ]]; then
      words[${'$'}{#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    joined=
    [[ $word == [=:]* ]] && joined=1
  done
  local whole=${'$'}{words[${'$'}{#words[@]} - 1]}
  [[ $cur == [=:]* ]] && cur=
  IFS= read cur <<< "$cur"
  local lead=${'$'}{whole%"$cur"}
  while IFS=$'\t' read -r word about; do
    case $word in
      :files) files=1 ;;
      :* | '') ;;
      *) _edgewise_quote "${'$'}{word#"$lead"}" ;;
    esac
  done < <("$1" __complete -- "${'$'}{words[@]}" 2>/dev/null)
  [[ $files && ${'$'}{#COMPREPLY[@]} -eq 0 && $cur ]] && return
  compopt +o default 2>/dev/null
  if [[ $files ]]; then
    while IFS= read -r line; do
      [[ $line == -* ]] && continue
      [[ -d $line ]] && line+=/
      _edgewise_quote "$line"
    done < <(compgen -f -- "$cur")
  fi
  if ((${'$'}{#COMPREPLY[@]} == 1)) && [[ ${'$'}{COMPREPLY[0]} == *[=/:] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _edgewise edgewise
`;

const ZSH = String.raw`#compdef edgewise
# Completion of edgewise for zsh. In ~/.zshrc, after compinit: source <(edgewise completion zsh)
_edgewise_quote() {
  REPLY="${'$'}{${'$'}{1//\\/\\\\}//:/\\:}:$2"
}
_edgewise() {
  local line word about files REPLY
  local -a closed open
  for line in "${'$'}{(@f)$("${'$'}{words[1]}" __complete -- "${'$'}{(@Q)words[2,CURRENT-1]}" "$IPREFIX${'$'}{(Q)PREFIX}" 2>/dev/null)}"; do
    word=${'$'}{line%%$'\t'*}
    about=${'$'}{line#*$'\t'}
    _edgewise_quote "$word" "$about"
    case $word in
      :files) files=1 ;;
      :*|'') ;;
      *[=/:]) open+=("$REPLY") ;;
      *) closed+=("$REPLY") ;;
    esac
  done
  (( $#closed )) && _describe -t values edgewise closed
  (( $#open )) && _describe -t values edgewise open -S ''
  [[ -n $files ]] && _files -F '(-*)'
  return 0
}
if [[ $funcstack[1] == _edgewise ]]; then _edgewise "$@"; else compdef _edgewise edgewise; fi
`;

const FISH = String.raw`# Completion of edgewise for fish. Once: edgewise completion fish > ~/.config/fish/completions/edgewise.fish
function __edgewise_complete
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    set -l current (string unescape -- $typed)
    or set current $typed
    for line in (command $before[1] __complete -- $before[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            for path in "$typed"*
                string match -q -- '-*' "$path"; and continue
                test -d "$path"; and set path "$path/"
                printf '%s\n' "$path"
            end
        else if not string match -q ':*' -- $line
            printf '%s\n' $line
        end
    end
end
complete -c edgewise -f -a '(__edgewise_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
