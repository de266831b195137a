import { type Change, toShownChange } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import { assertNever } from '../../model/errors.ts';
import { toPrintable } from '../../model/printable.ts';
import { toWord } from './escape.ts';

/** A danger of a plan, ready to read. */
export interface DangerView {
  readonly danger: Danger['danger'];
  readonly address: string;
  /** One clause whose subject is the resource: `gets a new id and a new value of certificate`. */
  readonly said: string;
}

/** Every danger of some changes, in their order. */
export function listDangerViews(changes: readonly Change[]): readonly DangerView[] {
  return changes.flatMap((change) => {
    const address = toWord(toShownChange(change));
    return (change.dangers ?? []).map((one) => ({ danger: one.danger, address, said: toDangerClause(one) }));
  });
}

/** The dangers of a change that its action does not say by itself, as clauses. A diagnostic warns of a lock-out. */
export function listDangerClauses({ dangers = [] }: Pick<Change, 'dangers'>): readonly string[] {
  return dangers
    .filter((one) => one.danger !== 'delete' && one.danger !== 'lockout' && !isPlainReplace(one))
    .map(toDangerClause);
}

/** The same as notes on the change. */
export function listDangerNotes(change: Pick<Change, 'dangers'>): readonly string[] {
  return listDangerClauses(change).map((clause) => `danger: it ${clause}`);
}

function isPlainReplace(danger: Danger): boolean {
  return danger.danger === 'replace' && danger.gap === 0 && danger.loses.length === 0;
}

function toDangerClause(danger: Danger): string {
  switch (danger.danger) {
    case 'delete':
      return 'will be deleted';
    case 'replace':
      return `gets a new id${toLossText(danger.loses)}${toGapText(danger.gap)}`;
    case 'opens':
      return toOpeningClause(danger);
    case 'unprotects':
      return 'is no longer protected';
    case 'token':
      return 'gets a new token: whoever uses the old one needs the new one';
    case 'lockout':
      return 'may lock out whoever applies it';
    case 'validity':
      return `is valid for longer: ${toPrintable(danger.from)} → ${toPrintable(danger.to)}`;
    default:
      return assertNever(danger);
  }
}

function toLossText(fields: readonly string[]): string {
  if (fields.length === 0) return '';
  return ` and ${fields.length === 1 ? 'a new value' : 'new values'} of ${fields.map(toPrintable).join(', ')}`;
}

function toGapText(gap: number): string {
  if (gap === 0) return '';
  return `; the old one is deleted ${gap === 1 ? 'one write' : `${gap} writes`} before the new one is created`;
}

function toOpeningClause({ path, how }: Extract<Danger, { readonly danger: 'opens' }>): string {
  const field = toPrintable(path);
  if (field === '') return 'keeps nobody out any more';
  switch (how) {
    case 'removed':
      return `loses ${field}, which kept somebody out`;
    case 'disabled':
      return `has ${field} disabled, which kept somebody out`;
    case 'loosened':
      return `lets more in than before: ${field}`;
    default:
      return assertNever(how);
  }
}
