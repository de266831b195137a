import type { Drift } from '../../model/drift.ts';
import type { FormatOptions } from '../report.ts';
import {
  type DriftedView,
  type DriftGroup,
  type DriftView,
  UNMANAGED_WORDING,
  type UnmanagedResourceView,
} from '../view/drift-view.ts';
import {
  createManifestLinks,
  createRowManifestLinks,
  listDangerSections,
  listFieldDiffLines,
  listShortFieldTexts,
  type RenderDangerManifestLink,
  type RenderManifestLink,
  renderFooter,
  type TableContext,
} from './changes.ts';
import {
  createDiagnosticSection,
  joinMarkdownCells,
  renderCodeSpan,
  renderDetails,
  renderFence,
  type Section,
  toShortProse,
} from './text.ts';

/** The top of a drift report: its headline, title and dangers. With `isPart`, it is only the title. */
export function listDriftHeadSections(
  view: DriftView,
  linkToDanger: RenderDangerManifestLink,
  { isPart = false }: Pick<FormatOptions, 'isPart'>,
): readonly Section[] {
  return [
    ...(isPart ? [] : [createParagraph(`## ${toShortProse(view.headline)}`)]),
    createParagraph([`${view.title}.`, ...view.notes.slice(0, 1)].map(toShortProse).join(' ')),
    ...(isPart ? [] : listDangerSections(view, linkToDanger)),
  ];
}

function createParagraph(text: string): Section {
  return { text: `${text}\n\n`, priority: 'always' };
}

/** Resources that differ, by state; then hints, diagnostics, unmanaged resources and coverage. */
export function listDriftSections(view: DriftView, drift: Drift, options: FormatOptions): readonly Section[] {
  const context = {
    hasOwners: view.hasOwners,
    linkTo: createDriftManifestLinkRenderer(drift, options),
    locate: options.locate,
  };
  return [
    ...view.groups.flatMap((group) => listGroupSections(group, context)),
    ...view.hints.map((hint) => createParagraph(toShortProse(hint))),
    ...view.diagnostics.map(createDiagnosticSection),
    ...listUnmanagedSections(view.unmanaged),
    createParagraph(toShortProse(view.coverage)),
    createParagraph(renderFooter({ made: drift.made, tool: { version: options.version ?? '' } }, options)),
  ];
}

export function createDriftManifestLinkRenderer(drift: Drift, options: FormatOptions): RenderManifestLink {
  return createManifestLinks(drift, options);
}

function listGroupSections({ heading, resources }: DriftGroup, context: TableContext): readonly Section[] {
  const heads = ['Resource', 'What happened', 'Next apply', ...(context.hasOwners ? ['Owner'] : [])];
  return [
    { text: `### ${toShortProse(heading)}\n\n`, priority: 'always' },
    { text: `${joinMarkdownCells(heads)}${joinMarkdownCells(heads.map(() => '---'))}`, priority: 'always' },
    ...resources.map((one) => createDriftRow(one, context)),
    { text: '\n', priority: 'always' },
    ...resources.flatMap(listDetailSections),
  ];
}

function createDriftRow(resource: DriftedView, { hasOwners, ...context }: TableContext): Section {
  const { address, id, owner = '', reason, expected, dangers, fields, pending, next } = resource;
  const { at, linkField } = createRowManifestLinks(resource, context);
  const name = [renderCodeSpan(address), ...(id === undefined ? [] : [renderCodeSpan(id)]), ...(at === '' ? [] : [at])];
  const what = [
    ...[reason, expected].flatMap((text) => (text === undefined ? [] : [toShortProse(text)])),
    ...listShortFieldTexts(fields, { dangers, linkField }),
  ];
  const then = [...(next === undefined ? [] : [toShortProse(next)]), ...listShortFieldTexts(pending, { linkField })];
  const cells = [name, what, then, ...(hasOwners ? [[toShortProse(owner)]] : [])].map((lines) => lines.join('<br>'));
  return { text: joinMarkdownCells(cells), priority: 'update', names: ['row of a resource', 'rows of resources'] };
}

/** The differing fields of a resource as a diff. Empty if the table shows all of them uncut. */
function listDetailSections({ address, fields, pending }: DriftedView): readonly Section[] {
  const isWhole = [fields, pending].every((some) => !listShortFieldTexts(some).some((brief) => CUT.test(brief)));
  if (isWhole) return [];
  const lines = [
    ...(fields.length === 0 ? [] : ['@@ expected and live @@', ...listFieldDiffLines(fields)]),
    ...(pending.length === 0 ? [] : ['@@ live and next apply @@', ...listFieldDiffLines(pending)]),
  ];
  const text = `${renderDetails({ code: address, rest: 'in full' }, renderFence('diff', lines))}\n\n`;
  return [{ text, priority: 'update-fields', names: ['field list of a resource', 'field lists of resources'] }];
}

const CUT = /…|^and \d+ more/;

function listUnmanagedSections(unmanaged: readonly UnmanagedResourceView[]): readonly Section[] {
  if (unmanaged.length === 0) return [];
  return [
    { text: `### ${toShortProse(UNMANAGED_WORDING.heading)}\n\n`, priority: 'always' },
    ...unmanaged.map((one): Section => {
      const said = one.description === '' ? '' : ` ${toShortProse(one.description)}`;
      const text = `- ${one.kind} ${renderCodeSpan(one.id)}${said}\n`;
      return { text, priority: 'unchanged', names: ['unmanaged resource', 'unmanaged resources'] };
    }),
    { text: `\n${toShortProse(UNMANAGED_WORDING.hint)}\n\n`, priority: 'always' },
  ];
}
