import type { Diagnostic } from '../model/diagnostic.ts';
import type { Withheld } from '../model/plan.ts';
import type { Decision } from './decide.ts';

/** What is done, and what is only listed. */
export interface Withholding {
  readonly decisions: readonly Decision[];
  readonly withheld: readonly Withheld[];
}

/**
 * Removes pure deletes from a plan (`--no-delete`). A replace still deletes its old resource, also when it completes an interrupted one:
 * there the delete is half of a change that the manifests ask for.
 */
export function withholdDeletes(decisions: readonly Decision[], isAsked: boolean): Withholding {
  if (!isAsked) return { decisions, withheld: [] };
  const replaced = new Set(decisions.filter(({ action }) => action === 'replace').map(({ pair }) => pair.address));
  const isKept = ({ action, pair }: Decision) =>
    action === 'delete' && !(pair.by === 'duplicate' && replaced.has(pair.address));
  return {
    decisions: decisions.filter((decision) => !isKept(decision)),
    withheld: decisions.filter(isKept).map(toWithheld),
  };
}

/** What is said of a duplicate that stays. */
export function toWithheldDiagnostics(
  diagnostics: readonly Diagnostic[],
  withheld: readonly Withheld[],
): readonly Diagnostic[] {
  const kept = new Set<string>(withheld.map(({ address }) => address));
  return diagnostics.map((diagnostic) =>
    diagnostic.code === 'duplicate-mark' && kept.has(diagnostic.address ?? '')
      ? { ...diagnostic, remedy: 'It stays because of --no-delete. An apply without the flag prunes it.' }
      : diagnostic,
  );
}

function toWithheld({ pair, reason = '' }: Decision): Withheld {
  const { address, duplicateOf, kind, live } = pair;
  const id = live?.id ?? '';
  return { address, ...(duplicateOf !== undefined && { duplicateOf }), kind: kind.name, id, reason };
}
