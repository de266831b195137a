import { type Address, stripDuplicateId } from '../../model/address.ts';
import type { Drift } from '../../model/drift.ts';
import type { FormOptions } from '../report.ts';
import {
  type DriftedView,
  type DriftGroup,
  type DriftView,
  MOVED,
  type StrangerView,
  UNMANAGED_WORDING,
} from '../view/drift-view.ts';
import { createLinks, type LinkToDanger, listBriefs, listDangerSections, listDiffLines } from './changes.ts';
import { type Section, toCode, toDetails, toDiagnosticSection, toFence, toProse, toRow } from './text.ts';

/** A comparison, above the fold: all of it on one line, its title, and the dangers. A longer report has shown the first and the last before. */
export function listDriftHeadSections(
  view: DriftView,
  linkToDanger: LinkToDanger,
  { isPart = false }: Pick<FormOptions, 'isPart'>,
): readonly Section[] {
  return [
    ...(isPart ? [] : [toParagraph(`## ${toProse(view.headline)}`)]),
    toParagraph([`${view.title}.`, ...view.notes.slice(0, 2)].map(toProse).join(' ')),
    ...(isPart ? [] : listDangerSections(view, linkToDanger)),
  ];
}

function toParagraph(text: string): Section {
  return { text: `${text}\n\n`, weight: 'always' };
}

/** Resources that differ, state by state, what can be said of who changed them, then unmanaged ones. */
export function listDriftSections(view: DriftView, drift: Drift, options: FormOptions): readonly Section[] {
  const locate = createLocate(drift, options);
  return [
    ...view.groups.flatMap((group) => listGroupPieces(group, locate)),
    ...view.remarks.map((remark) => toParagraph(toProse(remark))),
    ...view.diagnostics.map(toDiagnosticSection),
    ...listUnmanagedPieces(view.unmanaged),
    toParagraph(toProse(view.coverage)),
  ];
}

/** Where the manifest of an address starts, as Markdown; empty: it is not known. */
type LocateManifest = (address: string) => string;

function createLocate(drift: Drift, options: FormOptions): LocateManifest {
  const linkTo = createDriftLinks(drift, options);
  return (address) => linkTo(stripDuplicateId(address) as Address);
}

/** Links to the lines of the fields that dangers are about. */
export function createDriftDangerLinks(drift: Drift, options: FormOptions): LinkToDanger {
  const linkTo = createDriftLinks(drift, options);
  return ({ change, path }) => linkTo(change.address, path);
}

function createDriftLinks({ at, commit }: Drift, options: FormOptions) {
  const linkTo = createLinks({ made: { at, ...(commit !== undefined && { commit }) } }, options);
  return (address: Address, path?: string): string => {
    const place = options.locate?.(address, path);
    return place === undefined ? '' : linkTo(place);
  };
}

function listGroupPieces({ heading, resources }: DriftGroup, locate: LocateManifest): readonly Section[] {
  const heads = ['Resource', 'What happened', 'Next apply'];
  return [
    { text: `### ${toProse(heading)}\n\n`, weight: 'always' },
    { text: `${toRow(heads)}${toRow(heads.map(() => '---'))}`, weight: 'always' },
    ...resources.map((one) => toDriftRow(one, locate)),
    { text: '\n', weight: 'always' },
    ...resources.flatMap(listDetailPieces),
  ];
}

function toDriftRow(
  { address, id, reason, expected, dangers, moved, fields, pending, next }: DriftedView,
  locate: LocateManifest,
): Section {
  const at = locate(address);
  const name = [toCode(address), ...(id === undefined ? [] : [toCode(id)]), ...(at === '' ? [] : [at])];
  const what = [
    ...[reason, expected].flatMap((text) => (text === undefined ? [] : [toProse(text)])),
    ...listBriefs(fields, { dangers }),
    ...moved.map((path) => `${toCode(path)}: ${toProse(MOVED)}`),
  ];
  const then = [...(next === undefined ? [] : [toProse(next)]), ...listBriefs(pending)];
  const cells = [name, what, then].map((lines) => lines.join('<br>'));
  return { text: toRow(cells), weight: 'update', names: ['row of a resource', 'rows of resources'] };
}

/** Only where the table had no room. */
function listDetailPieces({ address, fields, pending }: DriftedView): readonly Section[] {
  const isWhole = [fields, pending].every((some) => !listBriefs(some).some((brief) => CUT.test(brief)));
  if (isWhole) return [];
  const lines = [
    ...(fields.length === 0 ? [] : ['@@ expected and live @@', ...listDiffLines(fields)]),
    ...(pending.length === 0 ? [] : ['@@ live and next apply @@', ...listDiffLines(pending)]),
  ];
  const text = `${toDetails({ code: address, rest: 'in full' }, toFence('diff', lines))}\n\n`;
  return [{ text, weight: 'update-fields', names: ['field list of a resource', 'field lists of resources'] }];
}

const CUT = /…|^and \d+ more/;

function listUnmanagedPieces(unmanaged: readonly StrangerView[]): readonly Section[] {
  if (unmanaged.length === 0) return [];
  return [
    { text: `### ${toProse(UNMANAGED_WORDING.heading)}\n\n`, weight: 'always' },
    ...unmanaged.map((one): Section => {
      const said = one.description === '' ? '' : ` ${toProse(one.description)}`;
      const text = `- ${one.kind} ${toCode(one.id)}${said}\n`;
      return { text, weight: 'unchanged', names: ['unmanaged resource', 'unmanaged resources'] };
    }),
    { text: `\n${toProse(UNMANAGED_WORDING.hint)}\n\n`, weight: 'always' },
  ];
}
