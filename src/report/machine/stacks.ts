import { toHarmlessJson } from '../../model/job-commands.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Removals, StackFolder, StackListing } from '../../model/stack-tree.ts';
import type { FormatOptions, StackReportPart, StacksRunReport } from '../report.ts';
import { quoteText } from '../view/escape.ts';
import { createResultEntry, type ResultEntry, renderPrintableJson, renderResultJson } from './json.ts';

export function renderStacksJson(listing: StackListing): string {
  const { root, total, stacks, changes, filesWithoutStack } = listing;
  return renderPrintableJson({
    format: 1,
    command: 'stacks',
    ok: true,
    root,
    total,
    stacks: stacks.map((stack) => createStackDocument(stack, listing)),
    ...createRemovalsPart(changes),
    filesWithoutStack: changes?.filesWithoutStack ?? filesWithoutStack,
  });
}

/** Empty if the stacks were not compared with a commit. */
function createRemovalsPart(removals: Removals | undefined): {
  readonly since?: string;
  readonly removed?: readonly string[];
} {
  return removals === undefined ? {} : { since: removals.since, removed: removals.removed };
}

function createStackDocument(stack: StackFolder, { changes }: StackListing): object {
  const change = changes?.changed.find((one) => one.stack.folder === stack.folder);
  return {
    name: stack.name,
    folder: stack.folder,
    file: stack.file,
    baseUrl: stack.baseUrl,
    keyEnv: stack.keyEnv,
    dependsOn: stack.dependsOn,
    changed: change && { files: change.files, through: change.through },
  };
}

export function renderStackFolderLines({ stacks }: StackListing): string {
  return stacks.map(({ folder }) => `${toPrintable(folder)}\n`).join('');
}

/** The value for `strategy.matrix` of a GitHub job, to parse with `fromJSON`. It creates one job for each stack. */
export function renderGitHubMatrix({ stacks }: StackListing): string {
  return `${toHarmlessJson(JSON.stringify({ include: stacks.map(({ name, folder }) => ({ stack: name, folder })) }))}\n`;
}

/**
 * A GitLab CI file with the hidden job `.edgewise-stacks`. A job of a child pipeline that extends the hidden job runs
 * once for each stack. Without stacks, the hidden job never runs, because GitLab rejects an empty matrix. No name or
 * folder may be one that `findGitLabReference` finds something in.
 */
export function renderGitLabMatrix({ stacks }: StackListing): string {
  if (stacks.length === 0) return '.edgewise-stacks:\n  rules:\n    - when: never\n';
  const jobs = stacks.map(({ name, folder }) => {
    const [stack, path] = [name, folder].map((text) => quoteText(text.replaceAll('$', '$$$$')));
    return `      - EDGEWISE_STACK: ${stack}\n        EDGEWISE_FOLDER: ${path}\n`;
  });
  return `.edgewise-stacks:\n  parallel:\n    matrix:\n${jobs.join('')}`;
}

/**
 * Returns the `%NAME%` in a text, which GitLab replaces by the value of a variable. Unlike `$`, which is doubled, `%` has
 * no escape: GitLab leaves `%%` as it is. Source: `ExpandVariables` of GitLab.
 */
export function findGitLabReference(text: string): string | undefined {
  return /%\w+%/.exec(text)?.[0];
}

/** A run over many stacks as one JSON document. */
export function renderStacksReportJson(
  { command, parts, removals }: StacksRunReport,
  { summary }: Pick<FormatOptions, 'summary'>,
): string {
  return renderResultJson(command, parts.map(createStackEntry), { summary, ...createRemovalsPart(removals) });
}

/** The entry of one of the stacks of a run. */
export function createStackEntry({ name, folder, keyEnv, report }: StackReportPart): ResultEntry {
  const entry = createResultEntry(report);
  return { ...entry, stack: name || entry.stack, folder, keyEnv: keyEnv ?? entry.keyEnv };
}
