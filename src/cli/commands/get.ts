import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Kind } from '../../kinds/kind.ts';
import { findOwnedKindOfId } from '../../kinds/references.ts';
import { findKind, getKind, MANIFEST_KINDS } from '../../kinds/tables/registry.ts';
import { renderPlainYaml } from '../../manifest/render-document.ts';
import { suggest, suggestRemedy } from '../../manifest/suggest.ts';
import { parseAddress } from '../../model/address.ts';
import type { StackInventory } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { formatPath, parsePath } from '../../model/field-path.ts';
import { createHiddenNumbers } from '../../model/secret-value.ts';
import type { DesiredState, FieldPath } from '../../model/state.ts';
import { StackError } from '../../model/user-errors.ts';
import { type AddressWithoutLiveResource, getKindNameOf, listMissingAddresses } from '../../plan/inventory.ts';
import {
  checkIssuedText,
  checkKindHasReadableField,
  checkValueAtPath,
  chooseNamedResource,
  createInventoryEntry,
  renderInventoryAddressLines,
  renderValueLinesAtPath,
} from '../../report/machine/inventory.ts';
import { createResultDocument, createResultEntry, renderResultJson } from '../../report/machine/json.ts';
import { renderRunText } from '../../report/render-text.ts';
import { renderInventoryText } from '../../report/text/lists.ts';
import { createInventoryView } from '../../report/view/inventory-view.ts';
import { numberInventory } from '../../report/view/redact.ts';
import { formatStackTitle } from '../../report/view/run-wording.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { getServiceTime, warnOfClockSkew } from '../connection/clock.ts';
import type { Context } from '../context.ts';
import { computeWorstExitCode, EXIT, type ExitCode } from '../exit-code.ts';
import { type CommandBodyRunner, type FormatFlags, getTextOptions, TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { createFailedPart, createStacksReport } from '../reconcile/report-run.ts';
import { runGet } from '../reconcile/run-stacks.ts';
import type { StackFilterFlags, StacksRun } from '../reconcile/with-stacks.ts';
import { OUTPUT_OPTIONS_HEADING } from './help.ts';
import {
  addToCommand,
  COLOR,
  CONNECTION_OPTIONS,
  EXAMPLE_ADDRESS,
  RECURSIVE_OPTIONS,
  refuseFiltersWithoutRecursive,
  SHOW_SECRETS,
} from './options.ts';

/** A word on the command line of `get` is an address, an id, a kind, or a path of manifests. */

/** Whether a word is an address. To name a folder instead, the user types ./Kind/name. */
export function isResourceAddress(word: string): boolean {
  const parsed = parseAddress(word);
  return parsed !== undefined && findKind(parsed.kind) !== undefined;
}

/** Whether a word is the id of a resource that a stack can own. To name a file instead, the user types ./id. */
export function isResourceId(word: string): boolean {
  return findOwnedKindOfId(word) !== undefined;
}

/** Whether a word names a kind that a stack can own or attach to. To name a folder instead, the user types ./Kind. */
export function isKindName(word: string): boolean {
  const kind = findKind(word);
  return kind !== undefined && kind.role !== 'submitted';
}

/** Throws for a word that looks like a misspelt kind or address. Otherwise the word would be used as a path. */
export function refuseMisspelt(words: readonly string[]): void {
  for (const word of words) {
    const name = parseAddress(word)?.kind ?? word;
    if (!/^[A-Z][A-Za-z]+$/.test(name) || findKind(name) !== undefined) continue;
    const nearest = suggest(
      name,
      MANIFEST_KINDS.map((kind) => kind.name),
    );
    if (nearest === undefined) continue;
    throw new StackError(`There is no kind ${name}.`, {
      reason: 'invalid',
      remedy: `Did you mean ${nearest}${word.slice(name.length)}? To name a path, write ./${word}.`,
    });
  }
}

type GetFormat =
  | { readonly name: 'table' | 'json' | 'yaml' | 'name' }
  | { readonly name: 'value'; readonly path: FieldPath };

interface GetCommandFlags extends ConnectionFlags, StackFilterFlags, Pick<FormatFlags, 'color' | 'verbose'> {
  readonly format: GetFormat;
}

/** The values of `--format`, in addition to `value=FIELD`. */
export const GET_FORMATS = ['table', 'json', 'yaml', 'name'] as const;

export function configureGetCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description(
      'Show the live resources of the stack, or any by its id, with the fields that the service computed. Tokens are never shown. Sends GET requests only.',
    )
    .usage('[options] [addresses...] [paths...]')
    .argument(
      '[addresses...]',
      'Kind/name, ids and kinds (default: everything); then the manifests of the stack (default: the current folder)',
    );
  const { success, failed, invalid, authentication } = EXIT;
  addToCommand(command, {
    options: [
      new Option('--format <format>', `format of the result: ${GET_FORMATS.join(', ')}, value=FIELD`)
        .argParser(parseFormat)
        .default({ name: 'table' }, 'table')
        .helpGroup(OUTPUT_OPTIONS_HEADING),
      new Option('--verbose', 'also show the fields that manifests set, in the table').helpGroup(
        OUTPUT_OPTIONS_HEADING,
      ),
      ...RECURSIVE_OPTIONS,
      COLOR,
      SHOW_SECRETS,
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, invalid, authentication],
    examples: [
      ['edgewise get', 'all that the stack of this folder owns'],
      [`edgewise get ${EXAMPLE_ADDRESS} manifests`, 'one resource of the stack in a folder'],
      [`edgewise get ${EXAMPLE_ADDRESS} --format value=id`, 'one value, for a script'],
      ['edgewise get --format json | jq -r .stacks[].inventory.resources[].address', 'everything, for a program'],
    ],
  }).action((words: string[], flags: GetCommandFlags) =>
    act({ ...flags, format: flags.format.name === 'json' ? 'json' : 'text' }, (context) =>
      getResources(words, flags, context),
    ),
  );
}

async function getResources(words: readonly string[], given: GetCommandFlags, context: Context): Promise<ExitCode> {
  refuseFiltersWithoutRecursive(given);
  const isMany = given.recursive === true;
  refuseMisspelt(words);
  const isOne = (word: string): boolean => isResourceAddress(word) || isResourceId(word);
  const names = words.filter((word) => isOne(word) || isKindName(word));
  const one = names.length === 1 && !isMany ? names.find(isOne) : undefined;
  const query = { names, mayRead: createKindFilter(names, given.format) };
  return runGet(
    words.filter((word) => !names.includes(word)),
    {
      flags: { ...given, ...TEXT_ONLY_FORMAT_FLAGS },
      query,
      select: ({ state }, inventory) => {
        const missing = isMany ? [] : listMissingAddresses(state, inventory, names);
        if (missing.length > 0) throw createMissingAddressError(missing, inventory);
        return selectValues(inventory, { one, format: given.format, described: state.resources });
      },
      show: (run) => {
        const { sessions } = run;
        warnOfClockSkew(
          sessions.flatMap(({ inventory }) => inventory ?? []),
          context,
        );
        const { name } = given.format;
        if (name === 'json' || name === 'yaml') context.stdout.write(renderResult(run, name));
        if (isMany) return showMany(run, { flags: given, isOne: false, context });
        for (const { inventory } of sessions)
          if (inventory !== undefined)
            context.stdout.write(
              renderInventory(numberInventory(inventory, createHiddenNumbers()), {
                flags: given,
                isOne: one !== undefined,
                context,
              }),
            );
        return EXIT.success;
      },
    },
    context,
  );
}

interface ValueSelection {
  /** The one resource that the user names. */
  readonly one: string | undefined;
  readonly format: GetFormat;
  /** The resources of the manifests. */
  readonly described: DesiredState['resources'];
}

/**
 * For `value=FIELD`: throws for a text that no other program may get. If the user names one resource, returns only that,
 * and throws if it has no value that can be shown, so that a script gets one value or a failure.
 */
function selectValues(inventory: StackInventory, { one: address, format, described }: ValueSelection): StackInventory {
  if (format.name !== 'value') return inventory;
  const { path } = format;
  const named = address === undefined ? undefined : chooseNamedResource(inventory, address);
  if (named !== undefined && 'finding' in named) throw createValueError(named.finding, TWO_RESOURCES);
  const resources = named === undefined ? inventory.resources : [named];
  for (const resource of resources) {
    const invalid = checkIssuedText(resource, path, described);
    if (invalid !== undefined)
      throw createValueError(
        invalid,
        `If its manifest was changed, apply that first. Otherwise look at the resource at the service, or replace it: edgewise apply --rotate ${resource.address}`,
      );
    const absent = address === undefined ? undefined : checkValueAtPath(resource, path);
    if (absent !== undefined)
      throw createValueError(absent, 'edgewise get --format json shows every field that has one.');
  }
  return { ...inventory, resources };
}

function createValueError(message: string, remedy: string): StackError {
  return new StackError(`${message}.`, { reason: 'failed', remedy });
}

const TWO_RESOURCES = 'The next apply keeps one of them: edgewise plan shows which.';

/** The document of the run. A stack that was not read has its failure there. */
function renderResult(run: StacksRun, format: 'json' | 'yaml'): string {
  const numbers = createHiddenNumbers();
  const entries = run.sessions.map((session) => {
    const {
      inventory,
      folder: { folder, name },
    } = session;
    return inventory === undefined
      ? { ...createResultEntry(createFailedPart(session, run).report), stack: name, folder }
      : { ...createInventoryEntry(numberInventory(inventory, numbers)), folder };
  });
  return format === 'json' ? renderResultJson('get', entries) : renderPlainYaml(createResultDocument('get', entries));
}

/** Shows what many stacks own. Errors of a stack are shown on stderr. */
function showMany(run: StacksRun, options: Shown): ExitCode {
  const { context } = options;
  const numbers = createHiddenNumbers();
  for (const { folder, inventory } of run.sessions) {
    if (inventory === undefined) continue;
    const text = renderInventory(numberInventory(inventory, numbers), options);
    const isTable = options.flags.format.name === 'table';
    context.stdout.write(
      isTable ? `── ${formatStackTitle(folder)}\n${text}\n` : text.replace(/^(?=.)/gm, `${folder.name}\t`),
    );
  }
  const failed = run.sessions.flatMap((session) =>
    session.inventory === undefined ? [createFailedPart(session, run)] : [],
  );
  if (failed.length > 0) {
    const style = getTextOptions(context.stderr, context, TEXT_ONLY_FORMAT_FLAGS);
    context.stderr.write(renderRunText(createStacksReport(run, failed), style));
  }
  return computeWorstExitCode(failed.map(({ exitCode }) => exitCode));
}

/**
 * Returns a function that tells whether a kind has the field FIELD of `value=FIELD`. Throws if a kind in `names` lacks
 * the field. If `names` is empty, throws only if every kind lacks it.
 */
function createKindFilter(names: readonly string[], format: GetFormat): (kind: Kind) => boolean {
  if (format.name !== 'value') return () => true;
  const { path } = format;
  const kinds = names.length === 0 ? MANIFEST_KINDS : names.map((name) => getKind(getKindNameOf(name)));
  const findings = kinds.flatMap((kind) => checkKindHasReadableField(kind, path) ?? []);
  const isRefused = names.length === 0 ? findings.length === kinds.length : findings.length > 0;
  if (!isRefused) return (kind) => checkKindHasReadableField(kind, path) === undefined;
  const [first] = names.length === 0 ? [`no kind has a field ${formatPath(path)}`] : findings;
  const known = kinds.flatMap((kind) =>
    Object.keys(kind.fields).filter((name) => checkKindHasReadableField(kind, [name]) === undefined),
  );
  throw new StackError(`No value can be shown: ${first}.`, {
    reason: 'invalid',
    remedy: suggestRemedy(String(path[0] ?? ''), [...new Set(known)].sort()) ?? '',
  });
}

function createMissingAddressError(
  missing: readonly AddressWithoutLiveResource[],
  { stack, baseUrl }: StackInventory,
): StackError {
  const lines = missing.map(({ address, isDescribed, nearest }) => {
    if (isResourceId(address)) return `There is no ${getKindNameOf(address)} ${address} at ${baseUrl}.`;
    if (isDescribed) return `${address} is in the manifests and does not exist yet: apply creates it.`;
    const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
    return `The stack ${stack} owns no ${address} at ${baseUrl}.${hint}`;
  });
  return new StackError(lines, {
    reason: 'failed',
    remedy: 'edgewise get without an address lists the resources that the stack owns.',
  });
}

interface Shown {
  readonly flags: GetCommandFlags;
  /** Whether the user names one resource. */
  readonly isOne: boolean;
  readonly context: Context;
}

function renderInventory(inventory: StackInventory, { flags, isOne, context }: Shown): string {
  const { format } = flags;
  switch (format.name) {
    case 'table': {
      const view = createInventoryView(inventory, {
        now: getServiceTime(inventory, context),
        inDetail: flags.verbose === true,
      });
      return renderInventoryText(view, getTextOptions(context.stdout, context, { ...flags, format: 'text' }));
    }
    case 'json':
    case 'yaml':
      return ''; // one document of the whole run
    case 'name':
      return renderInventoryAddressLines(inventory);
    case 'value':
      return renderValueLinesAtPath(inventory, format.path, !isOne);
    default:
      return assertNever(format);
  }
}

function parseFormat(text: string): GetFormat {
  const name = GET_FORMATS.find((one) => one === text);
  if (name !== undefined) return { name };
  const path = text.startsWith('value=') ? parsePath(text.slice('value='.length)) : undefined;
  if (path !== undefined && path.length > 0) return { name: 'value', path };
  throw new InvalidArgumentError(
    `Use one of the formats ${GET_FORMATS.join(', ')}, or value=FIELD, such as value=id. To write to a file, redirect the output: > FILE.`,
  );
}
