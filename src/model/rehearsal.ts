/** What became of a plan that was tried on a twin of the account in memory. What was found stands in the diagnostics of the plan. */
export interface Rehearsal {
  /** Number of writes that were tried. */
  readonly writes: number;
  /** Number of those that the twin refused, or that waited for one in vain. */
  readonly refused: number;
  /** Number of changes that a plan after it would still make. */
  readonly left: number;
  /** Number of tokens that would be made and delivered. */
  readonly tokens: number;
}
