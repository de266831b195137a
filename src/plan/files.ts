import { findKind } from '../kinds/tables/registry.ts';
import type { Json } from '../model/json.ts';
import type { PlannedFile } from '../model/plan.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';
import type { ChangeDecision } from './decide.ts';

/** The paths of all files to which manifests write a value (`lifecycle.write_to`). */
export function listWriteToPaths({ resources }: DesiredState): readonly string[] {
  return [...resources.values()].flatMap((resource) => findFilePath(resource) ?? []);
}

/**
 * Lists the files that an apply writes, because their content differs or is not known yet. `present`: contents of
 * existing files, by path.
 */
export function listWriteToFiles(
  decisions: readonly ChangeDecision[],
  present: ReadonlyMap<string, string>,
): readonly PlannedFile[] {
  return decisions.flatMap((decision): PlannedFile[] => {
    const { address, desired, kind, live } = decision.pair;
    const path = desired === undefined ? undefined : findFilePath(desired);
    if (path === undefined || kind.fileField === undefined) return [];
    const replaces = present.has(path) && ({ replaces: true } as const);
    if (decision.action === 'create' || decision.action === 'replace') return [{ address, path, ...replaces }];
    const text = findFileContentOfValue(live?.computed[kind.fileField]);
    return text === undefined || present.get(path) === text ? [] : [{ address, path, text, ...replaces }];
  });
}

/** The content of the file to which a field's value is written. `undefined` if the field has no value. */
export function findFileContentOfValue(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? `${value.trimEnd()}\n` : undefined;
}

function findFilePath({ kind, lifecycle }: DesiredResource): string | undefined {
  const path = lifecycle.settings['write_to'];
  return typeof path === 'string' && findKind(kind)?.fileField !== undefined ? path : undefined;
}
