import { hasErrors } from '../../model/diagnostic.ts';
import { toCount } from '../text/layout.ts';
import type { ChangeView } from '../view/change-view.ts';
import type { PlanPart } from '../view/plan-parts.ts';
import type { PlanView, Totals } from '../view/plan-view.ts';
import { renderCounts } from './counts.ts';
import { renderFields } from './fields.ts';
import { renderFilter } from './filter.ts';
import { type Item, renderItems } from './item.ts';
import { type Html, html } from './node.ts';

/** Fields up to which a page shows all of them at once. */
export const MAX_OPEN_FIELDS = 400;

/** How many resources there are of each action. */
export function renderPlanCounts(totals: Totals): Html {
  const labels = [
    ['delete', 'to delete'],
    ['replace', 'to replace'],
    ['update', 'to update'],
    ['adopt', 'to adopt'],
    ['create', 'to create'],
    ['no-op', 'unchanged'],
  ] as const;
  return renderCounts(
    'Resources by action',
    labels.map(([action, label]) => ({ look: action, label, number: totals[action] })),
  );
}

/** The command that does what the plan says, to be copied. Nothing where it would be refused or have nothing to do. */
export function renderCommand(view: PlanView, command: string | undefined): Html | undefined {
  const isRefused = view.violations.length > 0 || hasErrors(view.diagnostics);
  if (command === undefined || view.isEmpty || isRefused) return undefined;
  return html`<p class="command">To apply: <code>${command}</code></p>\n`;
}

/** The changes of a plan, part for part, and what they can be narrowed by. Nothing when there are none. */
export function renderChanges({ parts }: Pick<PlanView, 'parts'>): Html | undefined {
  const changes = parts.flatMap(listChanges);
  if (changes.length === 0) return undefined;
  const isOpen = changes.reduce((sum, change) => sum + change.fields.length + change.lost.length, 0) <= MAX_OPEN_FIELDS;
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
      listChanges(part).flatMap((change) => items.get(change) ?? []),
    ),
  );
  return html`${filter}${lists}`;
}

function listChanges({ groups }: PlanPart): readonly ChangeView[] {
  return groups.flatMap(({ changes }) => changes);
}

const HEADINGS: Readonly<Record<PlanPart['part'], string>> = {
  deletes: 'What will be lost',
  change: 'Changes',
  drift: 'Drift that will be put back',
};

interface Place {
  readonly index: number;
  readonly isOpen: boolean;
}

function toItem(change: ChangeView, { index, isOpen }: Place): Item {
  const { action, kind, glyph, address, id, fields, lost, notes } = change;
  return {
    anchor: `change-${index + 1}`,
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
      renderFields(`Fields of ${address} that will be gone`, lost),
      renderUnchanged(change),
    ],
    isOpen,
  };
}

function renderAction({ action, reason, isContinued, protect }: ChangeView): Html {
  const why = isContinued ? ', as above' : reason === undefined ? '' : `: ${reason}`;
  return html`<span class="word">${action}</span>${why}${protect ? html` <span class="badge">protected</span>` : ''}`;
}

/** Said where fields are shown: beside others that change, one wonders about those that are not there. */
function renderUnchanged({ fields, unchanged }: ChangeView): Html | undefined {
  if (fields.length === 0 || unchanged === 0) return undefined;
  return html`<p class="rest">${toCount(unchanged, 'field')} unchanged</p>\n`;
}
