import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { GuardViolation } from '../../model/plan.ts';
import { renderDiagnosticLines } from '../text/diagnostics.ts';
import type { ChangeView } from '../view/change-view.ts';
import type { PlanPart } from '../view/plan-parts.ts';
import { toRequestSentence, toSummary } from '../view/plan-summary.ts';
import type { PlanView, WriteView } from '../view/plan-view.ts';
import { listDiffLines } from './fields.ts';
import { renderMermaidLines } from './mermaid.ts';
import type { Piece } from './pieces.ts';
import { toCode, toDetails, toFence, toProse, toRow } from './text.ts';

/** Addresses that a violation lists. */
const MAX_LISTED = 10;

/** Fields that a row of a table names. */
const MAX_NAMED = 5;

/** A longer command is not shown: one that is cut would do something else. */
const MAX_COMMAND = 1500;

/** What stands above the fold: what the plan is, what stands against it, how much it does. */
export function listHeadPieces(view: PlanView): readonly Piece[] {
  const { title, notes, violations, diagnostics } = view;
  return [
    { text: `## ${toProse(title)}\n\n`, weight: 'always' },
    ...notes.slice(0, 1).map((note): Piece => ({ text: `${toProse(note)}\n\n`, weight: 'always' })),
    ...violations.map(toViolationPiece),
    ...diagnostics.filter(({ severity }) => severity === 'error').map(toDiagnosticPiece),
    { text: `**${toProse(toSummary(view))}** ${toRequestSentence(view)}\n\n`, weight: 'always' },
  ];
}

/** What is done, part for part, and what else there is to know. */
export function listPlanPieces(view: PlanView): readonly Piece[] {
  return [
    ...view.parts.flatMap(listPartPieces),
    ...listListPieces('Files to write', view.files),
    ...listListPieces('Kept because of --no-delete', view.withheld),
    ...view.diagnostics.filter(({ severity }) => severity === 'warning').map(toDiagnosticPiece),
    ...listListPieces('Left as they are', view.unchanged),
    ...listGraphPieces(view),
  ];
}

/** The command that does what the plan says, to be copied. Nothing where it would be refused or have nothing to do. */
export function listCommandPieces(view: PlanView, command: string | undefined): readonly Piece[] {
  const isRefused = view.violations.length > 0 || hasErrors(view.diagnostics);
  if (command === undefined || command.length > MAX_COMMAND || view.isEmpty || isRefused) return [];
  return [{ text: `To apply:\n\n${toFence('sh', [command])}\n\n`, weight: 'always' }];
}

/** The API calls, as `--verbose` asks for. */
export function listCallPieces(writes: readonly WriteView[]): readonly Piece[] {
  if (writes.length === 0) return [];
  const lines = writes.map(({ number, method, path, reason, waitsFor, last }) => {
    const waits = waitsFor.length === 0 ? '' : ` (waits for ${waitsFor.map((one) => `[${one}]`).join(', ')})`;
    return `[${number}] ${method} ${path}: ${reason}${waits}${last ? ' (comes last)' : ''}`;
  });
  const text = `${toDetails({ code: 'Requests', rest: 'in an order that is valid' }, toFence('text', lines))}\n\n`;
  return [{ text, weight: 'calls', names: ['list of requests', 'lists of requests'] }];
}

/** A diagnostic as a terminal shows it: the caret of an excerpt has to stand where it points. */
export function toDiagnosticPiece(diagnostic: Diagnostic): Piece {
  const { severity } = diagnostic;
  const text = `${toFence('text', renderDiagnosticLines(diagnostic, { color: false, width: 0, verbose: false }))}\n\n`;
  return { text, weight: severity, names: [severity, `${severity}s`] };
}

function toViolationPiece({ rule, message, remedy, addresses }: GuardViolation): Piece {
  const listed = addresses.filter((address) => !message.includes(address));
  const hidden = listed.length - MAX_LISTED;
  const more = hidden > 0 ? ` and ${hidden} more` : '';
  const lines = [
    '> [!CAUTION]',
    `> **Refused (${toProse(rule)}):** ${toProse(message)}`,
    ...(listed.length === 0 ? [] : ['>', `> ${listed.slice(0, MAX_LISTED).map(toCode).join(', ')}${more}`]),
    '>',
    `> ${toProse(remedy)}`,
  ];
  return { text: `${lines.join('\n')}\n\n`, weight: 'refusal', names: ['safety rule', 'safety rules'] };
}

/** A table of what is done, then the fields of each resource, folded. */
function listPartPieces({ part, heading, groups }: PlanPart): readonly Piece[] {
  const changes = groups.flatMap((group) => group.changes);
  const title = part === 'deletes' ? 'Deletes' : heading;
  return [
    { text: title === undefined ? '' : `### ${title}\n\n`, weight: 'always' },
    { text: `${toRow(['', 'Resource', 'What'])}| --- | --- | --- |\n`, weight: 'always' },
    ...changes.map(toRowPiece),
    { text: '\n', weight: 'always' },
    ...changes.flatMap((change) => listDetailPieces(change, part)),
  ];
}

function toRowPiece(change: ChangeView): Piece {
  const { action, glyph, address, id, reason, notes, protect, isContinued } = change;
  const name = id === undefined ? toCode(address) : `${toCode(address)} ${toCode(id)}`;
  const remarks = [
    ...(reason === undefined ? [] : [toProse(reason)]),
    ...(protect ? ['protected'] : []),
    ...notes.map(toProse),
    ...listFieldNames(change),
    ...(isContinued ? ['the same resource as above'] : []),
  ];
  return {
    text: toRow([`${toCode(glyph)} ${action}`, name, remarks.join('; ')]),
    weight: action,
    names: [`row of what is to ${action}`, `rows of what is to ${action}`],
  };
}

/** Which fields differ. Of what comes or goes as a whole that says nothing. */
function listFieldNames({ action, fields }: ChangeView): readonly string[] {
  if (action === 'create' || fields.length === 0) return [];
  const hidden = fields.length - MAX_NAMED;
  const names = fields.slice(0, MAX_NAMED).map(({ path }) => toCode(path));
  return [`${names.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`];
}

function listDetailPieces(change: ChangeView, part: PlanPart['part']): readonly Piece[] {
  const { action, address, fields, lost, unchanged } = change;
  if (fields.length + lost.length === 0) return [];
  const diff = toFence('diff', listDiffLines([...fields, ...lost], unchanged));
  const rest = part === 'drift' ? `${action}: what drifted` : action;
  return [
    {
      text: `${toDetails({ code: address, rest }, diff)}\n\n`,
      weight: `${action}-fields`,
      names: [`field list of what is to ${action}`, `field lists of what is to ${action}`],
    },
  ];
}

function listListPieces(heading: string, sentences: readonly string[]): readonly Piece[] {
  if (sentences.length === 0) return [];
  const weight = heading === 'Left as they are' ? 'unchanged' : 'warning';
  const text = `${heading}:\n\n${sentences.map((one) => `- ${toProse(one)}\n`).join('')}\n`;
  return [{ text, weight, names: [`list "${heading}"`, `lists "${heading}"`] }];
}

function listGraphPieces({ writes }: PlanView): readonly Piece[] {
  const lines = renderMermaidLines(writes);
  if (lines.length === 0) return [];
  const text = `${toDetails({ code: 'Order', rest: 'what waits for what' }, toFence('mermaid', lines))}\n\n`;
  return [{ text, weight: 'graph', names: ['graph', 'graphs'] }];
}
