import { DRIFT_STATES, type DriftState } from '../../model/drift.ts';
import type { DriftedView, DriftGroup, DriftView } from '../view/drift-view.ts';
import { MOVED, STATE_LABELS } from '../view/drift-wording.ts';
import { toCount } from '../view/wording.ts';
import { renderCounts } from './counts.ts';
import { renderFields } from './fields.ts';
import { type Item, isOpenAtFirst, renderFilter, renderItems } from './item.ts';
import { type Html, html } from './node.ts';

const GLYPHS: Readonly<Record<DriftState, string>> = {
  drifted: '~',
  'drifted-and-pending': '≈',
  differs: '≠',
  missing: '+',
  unowned: '?',
  'file-differs': '≠',
  pending: '»',
  'left-over': '-',
  'in-sync': '=',
};

/** How many resources there are in each state. */
export function renderDriftCounts(counts: DriftView['counts']): Html {
  return renderCounts(
    'Resources by state',
    DRIFT_STATES.map((state) => ({ look: state, label: STATE_LABELS[state], number: counts[state] })),
  );
}

/** What is not as it should be, state for state, and what it can be narrowed by. Nothing when all is. */
export function renderDrifted({ groups }: Pick<DriftView, 'groups'>): Html | undefined {
  if (groups.length === 0) return undefined;
  const all = groups.flatMap(({ resources }) => resources);
  const isOpen = isOpenAtFirst(all.reduce((sum, { fields }) => sum + fields.length, 0));
  const indexes = new Map(all.map((one, index) => [one, index]));
  const lists = groups.map(({ state, heading, resources }) =>
    renderItems(
      state,
      heading,
      resources.map((one) => toItem(one, { state, index: indexes.get(one) ?? 0, isOpen })),
    ),
  );
  const filter = renderFilter({
    what: 'resources',
    by: 'State',
    groups: new Map(groups.map(({ state }) => [state, STATE_LABELS[state]])),
    kinds: all.map(({ kind }) => kind),
  });
  return html`${filter}${lists}`;
}

interface Place {
  readonly state: DriftGroup['state'];
  readonly index: number;
  readonly isOpen: boolean;
}

function toItem({ kind, address, id, reason, moved, fields }: DriftedView, { state, index, isOpen }: Place): Item {
  return {
    anchor: `resource-${index + 1}`,
    group: state,
    kind,
    glyph: GLYPHS[state],
    address,
    id,
    said: reason === undefined ? undefined : html`${reason}`,
    size: fields.length === 0 ? '' : toCount(fields.length, 'field'),
    body: [
      ...moved.map((name) => html`<p><code>${name}</code>: ${MOVED}</p>\n`),
      renderFields(`Fields of ${address}: live and desired`, fields),
    ],
    isOpen,
  };
}
