import { isAsAdopted } from '../../model/mark.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { StackError } from '../../model/user-errors.ts';
import { formatShortList } from '../../report/view/danger-view.ts';
import type { Session } from '../../run/session.ts';
import type { Consents, Request } from '../../settings/request.ts';
import type { Context } from '../context.ts';
import type { FormatFlags } from '../output/present.ts';
import type { PlanFlags } from './plan-flags.ts';
import type { StackFilterFlags } from './with-stacks.ts';

/** Flags of the commands that write. */
export interface ApplyFlags extends PlanFlags, FormatFlags, StackFilterFlags {
  readonly yes?: boolean;
  /** A plan file or a folder of plans. The new plan must be as this one approves it. Otherwise nothing is written. */
  readonly approved?: string;
}

/** What the flags allow, and the answer to the question of an apply. */
export function withAnswer(plan: Plan, flags: Consents): Consents {
  return { ...flags, allowTakeOver: listStacksToTakeOver(plan), allowRenamedBack: listRenamedBack(plan) };
}

/** The credentials and certificates that a plan renames back. */
function listRenamedBack({ violations }: Plan): readonly string[] {
  return violations.flatMap(({ rule, addresses }) => (rule === 'renamed-back' ? addresses : []));
}

/** The stacks whose resources a plan takes over, as far as that needs consent. */
function listStacksToTakeOver({ violations }: Plan): readonly string[] {
  return violations.flatMap(({ rule, stack }) => (rule === 'take-over' && stack !== undefined ? [stack] : []));
}

/** What a plan deletes although people made it, and edgewise has changed nothing on it since it was adopted. */
function listAdoptedToDelete({ mode, changes }: Plan): readonly string[] {
  if (mode !== 'apply') return [];
  return changes.flatMap(({ action, address, duplicateOf, live }) =>
    action === 'delete' &&
    duplicateOf === undefined &&
    live !== undefined &&
    isAsAdopted({ id: live.id, mark: live.mark })
      ? [address]
      : [],
  );
}

/** The word that is typed for such deletes. */
const ADOPTED = 'adopted';

/** A sentence of a question on some addresses: the first ones, and how many more. The plan above it has all. */
function formatAsked(said: string, addresses: readonly string[]): string {
  return addresses.length === 0 ? '' : ` ${said}: ${formatShortList(addresses.map(toPrintable))}.`;
}

interface Asking {
  /** The flags with what is allowed without an answer. */
  readonly flags: Pick<Request, 'allowTakeOver' | 'allowAdopted'>;
  readonly context: Pick<Context, 'ask'>;
}

/** Asks the user. Who destroys stacks, or takes over resources of others, names them: a yes is typed by habit. */
export async function confirm(question: string, ready: readonly Session[], { flags, context }: Asking): Promise<void> {
  const asked = ready.flatMap(({ plan }) => plan ?? []);
  const allowed = flags.allowTakeOver ?? [];
  const destroyed = asked.filter(({ mode }) => mode === 'destroy').map(({ stack }) => stack);
  const taken = asked.flatMap(listStacksToTakeOver).filter((stack) => !allowed.includes(stack));
  const owners = [...new Set(taken)].sort();
  const made = asked.flatMap(listAdoptedToDelete).filter((address) => flags.allowAdopted?.includes(address) !== true);
  const names = [...destroyed, ...owners, ...(made.length === 0 ? [] : [ADOPTED])];
  const accepted = names.length === 0 ? 'yes' : names.join(' ');
  const taking = owners.length === 0 ? '' : ` It takes over resources of ${owners.join(' and ')}.`;
  const kept = [...new Set(asked.flatMap(listRenamedBack))].sort();
  const keeping = formatAsked('These keep what was handed out', kept);
  const deleting = formatAsked('It deletes what was adopted and never changed, which --yes keeps', made);
  const answer = await context.ask(`${question}${taking}${keeping}${deleting} Only "${accepted}" is accepted: `);
  if (answer?.trim() === accepted) return;
  if (answer === undefined && owners.length > 0)
    throw new StackError(
      `This apply takes over resources of ${owners.join(' and ')}, and there is no terminal to ask.`,
      {
        reason: 'refused',
        remedy: `If that is right, use --yes with ${owners.map((stack) => `--allow-take-over ${stack}`).join(' ')}. Nothing was written.`,
      },
    );
  if (answer !== undefined) throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
  throw new StackError('Edgewise cannot ask for confirmation: there is no terminal.', {
    reason: 'invalid',
    remedy: 'Use --yes to apply without asking. Nothing was written.',
  });
}
