/** Something that an expression costs more than it may. */
export class BudgetError extends Error {
  override readonly name = 'BudgetError';
}

/**
 * What evaluating may cost, counted in steps and not in time: the same expression on the same values comes to the same end on every
 * machine, and a plan that was let through on one is not refused on another for being slow.
 */
export interface Budget {
  /** Takes steps. Throws `BudgetError` when there are no more, and at each later call: a macro that swallows it gains nothing. */
  readonly spend: (steps: number) => void;
  readonly isSpent: () => boolean;
  /** Steps taken. */
  readonly spent: () => number;
}

/** A budget of so many steps, which are also taken from another. */
export function createBudget(steps: number, from?: Budget): Budget {
  let spent = 0;
  return {
    spend: (more) => {
      spent += more;
      if (spent > steps) throw new BudgetError(`takes more than ${steps.toLocaleString('en')} steps`);
      from?.spend(more);
    },
    isSpent: () => spent > steps || from?.isSpent() === true,
    spent: () => spent,
  };
}
