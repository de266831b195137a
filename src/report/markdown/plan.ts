import type { GuardViolation } from '../../model/plan.ts';
import type { CommandLine } from '../report.ts';
import type { PlanView, WriteView } from '../view/plan-view.ts';
import { LIST_HEADINGS, LOSSES_HEADING, listWaits, REQUESTS_ORDER, toApplyLead } from '../view/plan-wording.ts';
import { listChangePieces, type TableContext } from './changes.ts';
import type { LinkTo } from './links.ts';
import { renderMermaidLines } from './mermaid.ts';
import { type Piece, toDiagnosticPiece } from './pieces.ts';
import { toCode, toDetails, toFence, toProse } from './text.ts';

/** Addresses that a violation lists. */
const MAX_LISTED = 10;

/** A longer command is not shown: one that is cut would do something else. */
const MAX_COMMAND = 1500;

/** What stands above the fold: all of it on one line, what the plan is, what stands against it, and its dangers. */
export function listHeadPieces(view: PlanView): readonly Piece[] {
  const { title, notes, violations, diagnostics } = view;
  return [
    { text: `## ${toProse(view.headline)}\n\n`, weight: 'always' },
    {
      text: `${[`${title}.`, ...notes.slice(0, 1), view.requests].filter(Boolean).map(toProse).join(' ')}\n\n`,
      weight: 'always',
    },
    ...violations.map(toViolationPiece),
    ...diagnostics.filter(({ severity }) => severity === 'error').map(toDiagnosticPiece),
    ...listDangerPieces(view.dangers),
  ];
}

/** What is done, part for part, and what else there is to know. */
export function listPlanPieces(view: PlanView, linkTo: LinkTo): readonly Piece[] {
  const { parts, hasOwners } = view;
  return [
    ...parts.flatMap((part) => listPartPieces(part, parts.length > 1, { hasOwners, linkTo })),
    ...listListPieces('files', view.files),
    ...listListPieces('withheld', view.withheld),
    ...view.diagnostics.filter(({ severity }) => severity === 'warning').map(toDiagnosticPiece),
    ...listLintPieces(view.lint),
    ...listListPieces('unchanged', view.unchanged),
    ...listGraphPieces(view),
  ];
}

/** The command that does what the plan says, to be copied. Nothing where it would be refused or have nothing to do. */
export function listCommandPieces(view: PlanView, command: CommandLine | undefined): readonly Piece[] {
  if (command === undefined || command.line.length > MAX_COMMAND || !view.isApplicable) return [];
  return [{ text: `${toApplyLead(command)}\n\n${toFence('sh', [command.line])}\n\n`, weight: 'always' }];
}

/** The API calls, as `--verbose` asks for. */
export function listCallPieces(writes: readonly WriteView[]): readonly Piece[] {
  if (writes.length === 0) return [];
  const lines = writes.map(({ number, method, path, reason, ...write }) => {
    const waits = listWaits(write).map((one) => ` (${one})`);
    return `[${number}] ${method} ${path}: ${reason}${waits.join('')}`;
  });
  const text = `${toDetails({ code: 'Requests', rest: REQUESTS_ORDER }, toFence('text', lines))}\n\n`;
  return [{ text, weight: 'calls', names: ['list of requests', 'lists of requests'] }];
}

/** The dangers and nothing else. One that may be left out stands by itself, so that the gravest stay. */
function listDangerPieces(dangers: PlanView['dangers']): readonly Piece[] {
  if (dangers.length === 0) return [];
  const names = ['danger', 'dangers'] as const;
  return [
    { text: '> [!CAUTION]\n', weight: 'always' },
    ...dangers.map(({ address, said }): Piece => {
      const text = `> - ${toCode(address)} ${toProse(said)}\n`;
      return { text, weight: 'delete', names };
    }),
    { text: '\n', weight: 'always' },
  ];
}

function toViolationPiece({ rule, message, remedy, addresses, places = [] }: GuardViolation): Piece {
  const hidden = addresses.length - MAX_LISTED;
  const more = hidden > 0 ? ` and ${hidden} more` : '';
  const lines = [
    '> [!CAUTION]',
    `> **Refused (${toProse(rule)}):** ${toProse(message)}`,
    ...(addresses.length === 0 ? [] : ['>', `> ${addresses.slice(0, MAX_LISTED).map(toCode).join(', ')}${more}`]),
    ...(places.length === 0 ? [] : ['>', `> ${places.map(toPosition).join(', ')}`]),
    '>',
    `> ${toProse(remedy)}`,
  ];
  return { text: `${lines.join('\n')}\n\n`, weight: 'refusal', names: ['safety rule', 'safety rules'] };
}

function toPosition({ message, place }: NonNullable<GuardViolation['places']>[number]): string {
  return `${toProse(message)}: ${toCode(`${place.file}:${place.line}`)}`;
}

/** A table of what is done, then a diff for each action. */
function listPartPieces({ part, heading, changes }: Part, hasOthers: boolean, context: TableContext): readonly Piece[] {
  const title = part === 'losses' ? LOSSES_HEADING : (heading ?? (hasOthers ? CHANGES_HEADING : undefined));
  return [
    { text: title === undefined ? '' : `### ${title}\n\n`, weight: 'always' },
    ...listChangePieces(changes, context),
  ];
}

type Part = PlanView['parts'][number];

const CHANGES_HEADING = 'Changes';

/** A list of sentences below its heading; nothing when there are none. */
export function listListPieces(list: keyof typeof LIST_HEADINGS, sentences: readonly string[]): readonly Piece[] {
  return listItemPieces(list, sentences.map(toProse));
}

/** A position is code, so that it can be copied. */
function listLintPieces(lint: PlanView['lint']): readonly Piece[] {
  const items = lint.map(({ position, said }) =>
    position === undefined ? toProse(said) : `${toCode(position)}: ${toProse(said)}`,
  );
  return listItemPieces('lint', items);
}

function listItemPieces(list: keyof typeof LIST_HEADINGS, items: readonly string[]): readonly Piece[] {
  if (items.length === 0) return [];
  const heading = LIST_HEADINGS[list];
  const weight = list === 'unchanged' ? 'unchanged' : 'warning';
  const text = `${heading}:\n\n${items.map((one) => `- ${one}\n`).join('')}\n`;
  return [{ text, weight, names: [`list "${heading}"`, `lists "${heading}"`] }];
}

/** Only where it tells something. */
function listGraphPieces({ writes, isOrderTelling }: PlanView): readonly Piece[] {
  const lines = isOrderTelling ? renderMermaidLines(writes) : [];
  if (lines.length === 0) return [];
  const text = `${toDetails({ code: 'Order', rest: 'which request waits for which' }, toFence('mermaid', lines))}\n\n`;
  return [{ text, weight: 'graph', names: ['graph', 'graphs'] }];
}
