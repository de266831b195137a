import { findKind } from '../../kinds/tables/registry.ts';
import { type Change, isProtected } from '../../model/change.ts';
import type { ManifestStart } from '../../model/diagnostic.ts';
import { parsePath } from '../../model/field-path.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FieldPath } from '../../model/state.ts';
import { listChangeNotes } from './change-notes.ts';
import { listDangerClauses } from './danger-words.ts';
import { toWord } from './escape.ts';
import { type FieldView, listFieldViews, type OriginWords, toDifferenceView } from './field-view.ts';
import { listLeaves } from './leaves.ts';
import type { ChangeAction, ChangeShare } from './plan-parts.ts';
import { toTakesOver } from './plan-wording.ts';
import { listTraits, type TraitView } from './traits.ts';
import type { Names } from './value-lines.ts';

/** One change, or its share of one part of a plan, ready to read. */
export interface ChangeView {
  readonly action: ChangeAction;
  readonly glyph: string;
  readonly kind: string;
  readonly address: string;
  /** Id of the live resource. */
  readonly id?: string;
  readonly reason?: string;
  /** What else who approves should know. */
  readonly notes: readonly string[];
  /** Of the notes, what is dangerous, as clauses: `loses acl, …`. */
  readonly dangers: readonly string[];
  readonly protect: boolean;
  /** What is made, or goes, in clauses: `listens on …`. */
  readonly traits: readonly TraitView[];
  /** Whose it is; absent: nobody says. */
  readonly owner?: string;
  /** Where its manifest starts. */
  readonly place?: ManifestStart;
  /** What differs; of a create, what will be there. */
  readonly fields: readonly FieldView[];
  /** Of a delete, what will be gone. */
  readonly lost: readonly FieldView[];
  /** Number of fields that have a value and keep it. */
  readonly unchanged: number;
  /** The change stands in the part before too, with the fields that belong there. */
  readonly isContinued: boolean;
}

/** The glyph of each action. */
const GLYPHS: Readonly<Record<ChangeAction, string>> = {
  delete: '-',
  replace: '±',
  update: '~',
  release: '«',
  adopt: '»',
  create: '+',
};

/** What drifted stands apart, and nothing is said of what one expects: a manifest that changed, or another's settings when they are taken over. */
const ORIGINS: OriginWords = { both: 'changed here and drifted', unknown: 'changed here or drifted' };

/**
 * The view of a change, or of a share of it. What is true of the whole change is said once, where it stands first. Fields and traits are made each time that
 * they are read: those of ten thousand changes take as much memory as the plan.
 */
export function toChangeView(
  { change, action, differences, isContinued }: ChangeShare,
  names: Names,
  ownerLabel?: string,
): ChangeView {
  const context = { kind: findKind(change.kind), names, origins: findOrigins(action) };
  const owner = findOwner(change, ownerLabel);
  const { live, desired } = change;
  const reason = toReason(change);
  const isNew = action === 'create' && desired !== undefined;
  const isGone = action === 'delete' && live?.spec !== undefined;
  return {
    action,
    glyph: GLYPHS[action],
    kind: toWord(change.kind),
    address: toWord(change.address),
    ...(live !== undefined && { id: toWord(live.id) }),
    ...(reason !== undefined && !isContinued && { reason }),
    notes: isContinued ? [] : listChangeNotes(change),
    dangers: isContinued ? [] : listDangerClauses(change),
    protect: isProtected(change),
    get traits() {
      return isNew || isGone ? listTraits(context.kind, (isNew ? desired : live?.spec) ?? {}, names) : [];
    },
    ...(owner !== undefined && { owner }),
    ...(change.place !== undefined && { place: toPrintableStart(change.place) }),
    get fields() {
      return isNew
        ? listFieldViews(desired, 'added', context)
        : differences.map((difference) => toDifferenceView(difference, context));
    },
    get lost() {
      return isGone ? listFieldViews(live.spec, 'removed', context) : [];
    },
    unchanged: isContinued ? 0 : countUnchanged(change),
    isContinued,
  };
}

/** What is replaced stands by itself: which of its fields drifted is said beside them. */
function findOrigins(action: ChangeAction): OriginWords {
  if (action === 'adopt') return {};
  return action === 'replace' ? { ...ORIGINS, drift: 'drifted' } : ORIGINS;
}

function findOwner({ labels, annotations }: Change, name: string | undefined): string | undefined {
  const owner = name === undefined ? undefined : (pick(labels, name) ?? pick(annotations, name));
  return owner === undefined ? undefined : toPrintable(owner);
}

function pick(texts: Change['labels'], name: string): string | undefined {
  return texts !== undefined && Object.hasOwn(texts, name) ? texts[name] : undefined;
}

function toPrintableStart({ file, line, origin }: ManifestStart): ManifestStart {
  return { file: toPrintable(file), line, ...(origin !== undefined && { origin: toPrintable(origin) }) };
}

/** Why, where the differences don't say it. */
function toReason({ action, reason, live }: Change): string | undefined {
  if (reason !== undefined) return toPrintable(reason);
  return action === 'adopt' && live !== undefined ? toTakesOver(toWord(live.id)) : undefined;
}

/** Fields at their defaults have no value to speak of. */
function countUnchanged({ action, kind: kindName, desired, differences }: Change): number {
  const kind = findKind(kindName);
  const isKept = action === 'update' || action === 'replace' || action === 'adopt';
  if (kind === undefined || desired === undefined || !isKept) return 0;
  const paths = differences.map(({ path }) => parsePath(path) ?? []);
  return listLeaves(kind, desired).filter(({ path }) => !paths.some((changed) => isAround(changed, path))).length;
}

/** Whether one of two paths stands inside of the other, or where it does. */
function isAround(left: FieldPath, right: FieldPath): boolean {
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  return shorter.every((step, index) => step === longer[index]);
}
