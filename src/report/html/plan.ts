import type { CommandLine } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import type { PlanView } from '../view/plan-view.ts';
import {
  ACTION_LABELS,
  CONTINUED,
  LOSSES_HEADING,
  PART_HEADINGS,
  toApplyLead,
  toOwnerNote,
  toUnchangedText,
} from '../view/plan-wording.ts';
import { toCount } from '../view/wording.ts';
import { renderCounts } from './counts.ts';
import { renderFields } from './fields.ts';
import { type Item, isOpenAtFirst, renderFilter, renderItems } from './item.ts';
import { type Html, html } from './node.ts';

/** How many resources there are of each action. */
export function renderPlanCounts({ totals }: Pick<PlanView, 'totals'>): Html {
  const actions = ['delete', 'replace', 'update', 'adopt', 'create', 'no-op'] as const;
  return renderCounts(
    'Resources by action',
    actions.map((action) => ({ look: action, label: ACTION_LABELS[action], number: totals[action] })),
  );
}

/** The command that does what the plan says, to be copied. Nothing where it would be refused or have nothing to do. */
export function renderCommand(view: PlanView, command: CommandLine | undefined): Html | undefined {
  if (command === undefined || !view.isApplicable) return undefined;
  return html`<p class="command">${toApplyLead(command)} <code>${command.line}</code></p>\n`;
}

/** The changes of a plan, part for part, and what they can be narrowed by. Nothing when there are none. */
export function renderChanges({ parts }: { readonly parts: readonly ChangePart[] }): Html | undefined {
  const changes = parts.flatMap((part) => part.changes);
  if (changes.length === 0) return undefined;
  const isOpen = isOpenAtFirst(changes.reduce((sum, { fields, lost }) => sum + fields.length + lost.length, 0));
  const items = new Map(changes.map((change, index) => [change, toItem(change, { index, isOpen })]));
  const filter = renderFilter({
    what: 'changes',
    by: 'Action',
    groups: new Map(changes.map(({ action }) => [action, action])),
    kinds: changes.map(({ kind }) => kind),
  });
  const lists = parts.map((part) =>
    renderItems(
      part.part,
      part.heading ?? HEADINGS[part.part],
      part.changes.flatMap((change) => items.get(change) ?? []),
    ),
  );
  return html`${filter}${lists}`;
}

/** Where a change stands on the page, by its place among all that are shown. */
export function toChangeAnchor(index: number): string {
  return `change-${index + 1}`;
}

/** What stands below one heading. */
interface ChangePart {
  readonly part: keyof typeof HEADINGS;
  readonly heading?: string;
  readonly changes: readonly ChangeView[];
}

/** Of each part, where nothing needs to be told apart. */
const HEADINGS = {
  losses: LOSSES_HEADING,
  change: 'Changes',
  drift: PART_HEADINGS.drift,
  more: 'More',
  less: 'Less',
} as const;

interface Place {
  readonly index: number;
  readonly isOpen: boolean;
}

function toItem(change: ChangeView, { index, isOpen }: Place): Item {
  const { action, kind, glyph, address, id, fields, lost, owner } = change;
  const notes = [...(owner === undefined ? [] : [toOwnerNote(owner)]), ...change.notes];
  return {
    anchor: toChangeAnchor(index),
    group: action,
    kind,
    glyph,
    address,
    id,
    said: renderAction(change),
    size: fields.length + lost.length === 0 ? '' : toCount(fields.length + lost.length, 'field'),
    body: [
      ...notes.map((note) => html`<p>${note}</p>\n`),
      renderFields(`Fields of ${address}`, fields),
      renderFields(`Fields of ${address} that will be lost`, lost),
      renderUnchanged(change),
    ],
    isOpen,
  };
}

function renderAction({ action, reason, isContinued, protect }: ChangeView): Html {
  const why = isContinued ? `, ${CONTINUED}` : reason === undefined ? '' : `: ${reason}`;
  return html`<span class="word">${action}</span>${why}${protect ? html` <span class="badge">protected</span>` : ''}`;
}

function renderUnchanged({ fields, unchanged }: ChangeView): Html | undefined {
  if (fields.length === 0 || unchanged === 0) return undefined;
  return html`<p class="rest">${toUnchangedText(unchanged)}</p>\n`;
}
