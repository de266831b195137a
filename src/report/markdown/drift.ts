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
import type { FieldView } from '../view/field-view.ts';
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
  const linkTo = createDriftLinks(drift, options);
  const hasOwners = view.groups.some(({ resources }) => resources.some(({ owner }) => owner !== undefined));
  return [
    ...view.groups.flatMap((group) => listGroupPieces(group, { linkTo, hasOwners })),
    ...view.remarks.map((remark) => toParagraph(toProse(remark))),
    ...view.diagnostics.map(toDiagnosticSection),
    ...listUnmanagedPieces(view.unmanaged),
    toParagraph(toProse(view.coverage)),
  ];
}

/** The line of a field, or where the manifest of an address starts, as Markdown; empty: it is not known. */
type LinkToField = (address: string, path?: string, form?: 'link' | 'line') => string;

/** Links to the lines of the fields that dangers are about. */
export function createDriftDangerLinks(drift: Drift, options: FormOptions): LinkToDanger {
  const linkTo = createDriftLinks(drift, options);
  return ({ change, path }) => linkTo(change.address, path);
}

function createDriftLinks({ at, commit }: Drift, options: FormOptions): LinkToField {
  const linkTo = createLinks({ made: { at, ...(commit !== undefined && { commit }) } }, options);
  return (address, path, form = 'link') => {
    const place = options.locate?.(stripDuplicateId(address) as Address, path);
    return place === undefined ? '' : linkTo(place, form);
  };
}

interface RowContext {
  readonly linkTo: LinkToField;
  /** There is a column for whose a resource is. */
  readonly hasOwners: boolean;
}

function listGroupPieces({ heading, resources }: DriftGroup, context: RowContext): readonly Section[] {
  const heads = ['Resource', 'What happened', 'Next apply', ...(context.hasOwners ? ['Owner'] : [])];
  return [
    { text: `### ${toProse(heading)}\n\n`, weight: 'always' },
    { text: `${toRow(heads)}${toRow(heads.map(() => '---'))}`, weight: 'always' },
    ...resources.map((one) => toDriftRow(one, context)),
    { text: '\n', weight: 'always' },
    ...resources.flatMap(listDetailPieces),
  ];
}

function toDriftRow(
  { address, id, reason, expected, dangers, moved, fields, pending, next, owner }: DriftedView,
  { linkTo, hasOwners }: RowContext,
): Section {
  const [first] = [...fields, ...pending];
  const at = linkTo(address, first?.stated);
  const row = linkTo(address, first?.stated, 'line');
  const linkField = ({ stated }: FieldView): string => {
    const own = linkTo(address, stated, 'line');
    return own === row ? '' : own;
  };
  const name = [toCode(address), ...(id === undefined ? [] : [toCode(id)]), ...(at === '' ? [] : [at])];
  const what = [
    ...[reason, expected].flatMap((text) => (text === undefined ? [] : [toProse(text)])),
    ...listBriefs(fields, { dangers, linkField }),
    ...moved.map((path) => `${toCode(path)}: ${toProse(MOVED)}`),
  ];
  const then = [...(next === undefined ? [] : [toProse(next)]), ...listBriefs(pending, { linkField })];
  const whose = hasOwners ? [[owner === undefined ? '' : toProse(owner)]] : [];
  const cells = [name, what, then, ...whose].map((lines) => lines.join('<br>'));
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
