import type { DriftState } from '../../model/drift.ts';
import { DRIFT_STATES } from '../../model/drift.ts';
import { toCount } from '../text/layout.ts';
import type { DriftedView, DriftGroup, DriftView } from '../view/drift-view.ts';
import { renderCounts } from './counts.ts';
import { renderFields } from './fields.ts';
import { renderFilter } from './filter.ts';
import { type Item, renderItems } from './item.ts';
import { type Html, html } from './node.ts';
import { MAX_OPEN_FIELDS } from './plan.ts';

/** How each state is called where there is little room, and its glyph. */
const STATES: Readonly<Record<DriftState, readonly [label: string, glyph: string]>> = {
  drifted: ['drifted', '~'],
  'drifted-and-pending': ['drifted and pending', '≈'],
  differs: ['different', '≠'],
  missing: ['missing', '+'],
  pending: ['pending', '»'],
  'left-over': ['left over', '-'],
  'in-sync': ['in sync', '='],
};

/** How many resources there are in each state. */
export function renderDriftCounts(counts: DriftView['counts']): Html {
  return renderCounts(
    'Resources by state',
    DRIFT_STATES.map((state) => ({ look: state, label: STATES[state][0], number: counts[state] })),
  );
}

/** What is not as it should be, state for state, and what it can be narrowed by. Nothing when all is. */
export function renderDrifted({ groups }: Pick<DriftView, 'groups'>): Html | undefined {
  if (groups.length === 0) return undefined;
  const all = groups.flatMap(({ resources }) => resources);
  const isOpen = all.reduce((sum, { fields }) => sum + fields.length, 0) <= MAX_OPEN_FIELDS;
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
    groups: new Map(groups.map(({ state }) => [state, STATES[state][0]])),
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
    glyph: STATES[state][1],
    address,
    id,
    said: reason === undefined ? undefined : html`${reason}`,
    size: fields.length === 0 ? '' : toCount(fields.length, 'field'),
    body: [
      ...moved.map((name) => html`<p><code>${name}</code>: changed; the plan does not hold what it was</p>\n`),
      renderFields(`Fields of ${address}: live, and as they should be`, fields),
    ],
    isOpen,
  };
}
