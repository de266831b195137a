import { toCount } from '../../report/view/wording.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { PlanFlags } from '../reconcile/plan-flags.ts';

/** Flags that name resources of one stack, or what may be done with them. */
export type SingleFlags = Partial<Pick<PlanFlags, 'target' | 'rotate' | 'takeOver' | 'allowProtected'>>;

/**
 * Refuses what is said of one resource where several stacks may have its address. Only `--stack NAME` makes a run one of one stack: what else narrows it
 * may leave another number of them tomorrow.
 */
export function refuseSingleFlags(
  { target = [], rotate = [], takeOver = [], allowProtected = [] }: SingleFlags,
  { names, count }: { readonly names: readonly string[]; readonly count: number },
): void {
  const given = [
    ...(target.length > 0 ? ['--target'] : []),
    ...(rotate.length > 0 ? ['--rotate'] : []),
    ...(takeOver.length > 0 ? ['--take-over'] : []),
    ...(allowProtected.length > 0 ? ['--allow-protected'] : []),
  ];
  if (given.length === 0 || (names.length === 1 && count <= 1)) return;
  const flags = given.join(' and ');
  throw new CommandError(`${flags} cannot be used for ${toCount(count, 'stack')}: each may have that address.`, {
    exitCode: EXIT.invalid,
    remedy: 'Add --stack NAME for the stack that you mean, or run the command on its folder. Nothing was sent.',
  });
}
