/** The JSON results of commands, as tests read them. */

/**
 * The only stack of a result: its name, and the members of what it has. That is the result of an apply, drift, validation, inventory,
 * comparison or failure, else the plan. The result of an apply has its plan as `plan`.
 */
export function readOnlyStack(text: string): ReturnType<typeof JSON.parse> {
  const { command, ok, stacks, failure } = JSON.parse(text);
  const [entry = { failure }, ...others] = stacks;
  if (others.length > 0) throw new Error(`The result has ${stacks.length} stacks`);
  const { stack, plan } = entry;
  const found = entry.result ?? entry.drift ?? entry.validation ?? entry.inventory ?? entry.comparison ?? entry.failure;
  return { command, ok, stack, ...(found === undefined ? plan : { plan, ...found }) };
}

/** The text of a plan file with another plan. */
export function changePlan(text: string, change: (plan: ReturnType<typeof JSON.parse>) => unknown): string {
  const { stacks, ...document } = JSON.parse(text);
  const [entry] = stacks;
  return JSON.stringify({ ...document, stacks: [{ ...entry, plan: change(entry.plan) }] });
}
