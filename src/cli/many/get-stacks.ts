import type { Kind } from '../../kinds/kind.ts';
import { renderYaml } from '../../manifest/render-document.ts';
import type { Inventory } from '../../model/inventory.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { toInventoryDocument } from '../../report/programs/inventory.ts';
import { renderDocument } from '../../report/programs/json.ts';
import type { StackPart } from '../../report/stacks-report.ts';
import { renderStackEnds, renderStacksTable } from '../../report/text/stacks-report.ts';
import { toStackTitle } from '../../report/view/stacks-view.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { PLAIN, toTextOptions } from '../output/present.ts';
import { forEachStack, openFolder, type StacksFlags, toGravest, toStacksReport, withStacks } from './stacks-run.ts';

/** What is asked for of many stacks, and how one is shown. */
export interface GetStacks {
  readonly flags: Omit<StacksFlags, 'format'> & { readonly form: 'table' | 'json' | 'yaml' | 'name' | 'value' };
  readonly names: readonly string[];
  readonly isOfUse: (kind: Kind) => boolean;
  /** One stack, in the forms that are text. */
  readonly render: (inventory: Inventory) => string;
}

/** Shows what every stack below a folder owns, with one reading of each account. A stack that cannot be shown is told of on stderr. */
export async function getOfStacks(paths: readonly string[], asked: GetStacks, context: Context): Promise<ExitCode> {
  const { names, isOfUse } = asked;
  const flags = { ...asked.flags, ...PLAIN };
  return withStacks(paths, { flags, command: 'get' }, context, async (run) => {
    const found = new Map<StackFolder, Inventory>();
    const parts = await forEachStack(run, async (folder) => {
      const { stack } = await openFolder(run, folder);
      found.set(folder, await stack.get({ names, isOfUse, signal: run.signal }));
      return { report: { about: 'failure', failure: {} }, exitCode: EXIT.done };
    });
    context.stdout.write(render([...found], asked));
    const failed = parts.filter(({ exitCode }) => exitCode !== EXIT.done);
    if (failed.length > 0) tellFailed(failed, run, context);
    return toGravest(parts.map(({ exitCode }) => exitCode));
  });
}

function tellFailed(failed: readonly StackPart[], run: Parameters<typeof toStacksReport>[0], context: Context): void {
  const options = toTextOptions(context.stderr, context, PLAIN);
  context.stderr.write(`${renderStackEnds(failed, options)}${renderStacksTable(toStacksReport(run, failed), options)}`);
}

function render(found: readonly (readonly [StackFolder, Inventory])[], { flags, render: toText }: GetStacks): string {
  const stacks = found.map(([{ folder }, inventory]) => ({ folder, ...toInventoryDocument(inventory) }));
  const document = { format: 1, command: 'get', ok: true, stacks };
  switch (flags.form) {
    case 'json':
      return renderDocument(document);
    case 'yaml':
      return renderYaml(document);
    case 'table':
      return found.map(([folder, inventory]) => `── ${toStackTitle(folder)}\n${toText(inventory)}\n`).join('');
    default:
      return found.map(([{ name }, inventory]) => toText(inventory).replace(/^(?=.)/gm, `${name}\t`)).join('');
  }
}
