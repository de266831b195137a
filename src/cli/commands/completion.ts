import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import type { Kind } from '../../kinds/kind.ts';
import { MANIFEST_KINDS, OWNED_KINDS } from '../../kinds/tables/registry.ts';
import { listAddresses } from '../../manifest/list-addresses.ts';
import { loadManifests } from '../../manifest/load.ts';
import { parseAddress } from '../../model/address.ts';
import { DIAGNOSTIC_CODES } from '../../model/diagnostic-codes.ts';
import { findPathFault } from '../../report/programs/field-value.ts';
import { PUBLISHED_SCHEMAS } from '../../schemas/published.ts';
import { listStackNames } from '../../stacks/find-stacks.ts';
import {
  type Candidate,
  type Completion,
  completeWords,
  type Sources,
  type WordContext,
} from '../completion/complete-words.ts';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { PLAIN } from '../output/present.ts';
import type { Act } from './act.ts';
import { GET_FORMS } from './get.ts';
import { TOPIC_NAMES } from './help-topics.ts';
import { addExamples, addExitCodes } from './options.ts';
import { isKindName, isResourceAddress } from './resource-words.ts';

/** `edgewise completion`. */
export function defineCompletion(command: Command, act: Act): void {
  command
    .description('Print the script with which a shell completes commands, options, values, files and addresses.')
    .addArgument(new Argument('<shell>', 'the shell that is to read the script').choices(SHELLS));
  addExitCodes(command, [EXIT.done, EXIT.invalid]);
  addExamples(command, [
    ['edgewise completion fish > ~/.config/fish/completions/edgewise.fish', 'once'],
    ['source <(edgewise completion bash)', 'in ~/.bashrc'],
    ['source <(edgewise completion zsh)', 'in ~/.zshrc, after compinit'],
  ]).action((shell: Shell) =>
    act(PLAIN, async ({ stdout }) => {
      stdout.write(SCRIPTS[shell]);
      return EXIT.done;
    }),
  );
}

/** What the scripts of `edgewise completion` call. */
export function defineWordCompletion(command: Command, act: Act, program: Command): void {
  command
    .argument('[words...]')
    .helpOption(false)
    .action((words: string[]) => act(PLAIN, (context) => complete(program, words, context)));
}

/** Errors are not shown, because somebody is typing. */
async function complete(program: Command, words: readonly string[], context: Context): Promise<ExitCode> {
  const found = await find(program, words, context).catch(() => undefined);
  const lines = (found?.candidates ?? []).map(({ word, about }) => `${word}\t${about.replace(/\s+/g, ' ')}\n`);
  context.stdout.write(`${lines.join('')}${found?.takesFiles === true ? ':files\n' : ''}`);
  return EXIT.done;
}

/** How long manifests are read for addresses. Anything longer would be noticed. */
const PATIENCE_MS = 300;

async function find(program: Command, words: readonly string[], context: Context): Promise<Completion> {
  const { cwd, now } = context;
  // Reading is asynchronous, and the rest is not: the first pass tells which manifests are asked for.
  let paths: readonly string[] | undefined;
  const probe = toSources(program, context, (operands) => {
    paths = operands;
    return [];
  });
  const first = completeWords(program, words, probe);
  if (paths === undefined) return first;
  const until = now().getTime() + PATIENCE_MS;
  const named = listPaths(paths);
  const given = named.length === 0 ? ['.'] : named;
  const { sources } = await loadManifests(given, { cwd, readStdin: async () => new Uint8Array() });
  const addresses = listAddresses(sources, () => now().getTime() > until);
  return completeWords(
    program,
    words,
    toSources(program, context, () => addresses),
  );
}

/** Placeholders of options and names of arguments that stand for paths. */
const FILES = new Set([
  ...['<file>', '<path>', '<folder>', '<plan>'],
  ...['paths', 'folder', 'plan', 'report', 'address', 'addresses'],
]);

/** The value of `--stack` where it is a name with `-R`, and a path without it. */
const NAME_OR_PATH = '<name|path>';

/** The run is over every stack below a folder. */
function isOfMany({ command, given }: WordContext): boolean {
  return command.name() === 'stacks' || [...given].some(({ long }) => long === '--recursive');
}

/** The commands whose `--stack NAME` is the name of a stack that exists. */
function isNarrowed({ command }: WordContext): boolean {
  return command.name() === 'stacks' || command.options.some(({ long }) => long === '--recursive');
}

/** The names of the stacks below the folder that the line names. A line without `-R` may get it yet. */
function listNames({ operands }: WordContext, { cwd, now }: Pick<Context, 'cwd' | 'now'>): readonly Candidate[] {
  const until = now().getTime() + PATIENCE_MS;
  const [root = '.'] = listPaths(operands);
  const names = listStackNames(root, { cwd }, () => now().getTime() > until);
  return Array.from(names, ([word, about]) => ({ word, about }));
}

function listPaths(operands: readonly string[]): readonly string[] {
  return operands.filter((word) => !isResourceAddress(word) && !isKindName(word) && word !== '-');
}

function toSources(
  program: Command,
  context: Pick<Context, 'cwd' | 'now'>,
  findAddresses: (operands: readonly string[]) => readonly string[],
): Sources {
  const { cwd } = context;
  const addresses = ({ operands }: WordContext) => toCandidates(findAddresses(operands));
  const names = program.commands.map((one) => one.name()).filter((name) => !name.startsWith('_'));
  return {
    isPath: (placeholder, place) => FILES.has(placeholder) || (placeholder === NAME_OR_PATH && !isOfMany(place)),
    listFiles: (start) => listFiles(start, cwd),
    values: {
      '<address>': addresses,
      '<form>': toForms,
      '<format=file>': ({ command }) => toCandidates(listReportForms(command).map((form) => `${form}=`)),
      '<name>': (place) => (isNarrowed(place) ? listNames(place, context) : []),
      [NAME_OR_PATH]: (place) => (isOfMany(place) ? listNames(place, context) : []),
      '<url>': () => toCandidates(['embedded:']),
      address: addresses,
      addresses: (context) => [...addresses(context), ...toKindCandidates(MANIFEST_KINDS)],
      kinds: () => toKindCandidates(OWNED_KINDS),
      name: () => [
        ...toKindCandidates(MANIFEST_KINDS),
        ...PUBLISHED_SCHEMAS.map(({ name, about }) => ({ word: name, about })),
      ],
      topic: () => [
        ...toKindCandidates(MANIFEST_KINDS),
        ...Object.entries(DIAGNOSTIC_CODES).map(([word, about]) => ({ word, about })),
      ],
      words: () => toCandidates([...names, ...TOPIC_NAMES]),
    },
  };
}

function toCandidates(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word, about: '' }));
}

function toKindCandidates(kinds: readonly Kind[]): readonly Candidate[] {
  return kinds.map(({ name, title }) => ({ word: name, about: title }));
}

/** The fields of the kinds that were named, or of every kind. */
function toForms({ start, operands }: WordContext): readonly Candidate[] {
  if (!start.startsWith(VALUE)) return toCandidates([...GET_FORMS, VALUE]);
  const named = new Set(operands.map((word) => parseAddress(word)?.kind ?? word));
  const kinds = MANIFEST_KINDS.filter(({ name }) => named.has(name));
  const fields = (kinds.length === 0 ? MANIFEST_KINDS : kinds).flatMap((kind) =>
    Object.entries(kind.fields).filter(([name]) => findPathFault(kind, [name]) === undefined),
  );
  const abouts = new Map(fields.map(([name, { description }]) => [name, description]));
  return Array.from(abouts, ([name, about]) => ({ word: `${VALUE}${name}`, about }));
}

const VALUE = 'value=';

/** The forms of a report are those of its command. */
function listReportForms({ options }: Command): readonly string[] {
  return options.find(({ long }) => long === '--format')?.argChoices ?? [];
}

/** The paths that begin with a text. Folders end with a slash. Hidden ones need a leading dot. */
function listFiles(start: string, cwd: string): readonly string[] {
  const at = start.lastIndexOf('/') + 1;
  const [folder, name] = [start.slice(0, at), start.slice(at)];
  return readdirSync(resolve(cwd, folder), { withFileTypes: true })
    .filter((entry) => entry.name.startsWith(name) && (name.startsWith('.') || !entry.name.startsWith('.')))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`);
}
