import { formatChangeAddress } from '../../model/change.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FindingRule, ShownFinding } from '../document.ts';
import type { DangerView } from '../view/danger-view.ts';
import { toPrintableLines } from '../view/escape.ts';

/** A finding that is no diagnostic. Its texts become printable. */
export function createFinding(
  rule: FindingRule,
  level: ShownFinding['level'],
  message: string,
  { address, remedy, ...more }: Omit<ShownFinding, 'rule' | 'level' | 'message'> = {},
): ShownFinding {
  return {
    ...more,
    rule,
    level,
    message: toPrintable(message),
    remedy: remedy === undefined ? undefined : toPrintableLines(remedy).join('\n'),
    address: address === undefined ? undefined : toPrintable(address),
  };
}

export function createDangerFinding(
  rule: FindingRule,
  { address, said, group, change, manifestPath: field }: DangerView,
  { level, nature }: Pick<ShownFinding, 'level' | 'nature'>,
): ShownFinding {
  const message = `${address} ${said} (${group})`;
  return createFinding(rule, level, message, { address: formatChangeAddress(change), nature, group, field });
}
