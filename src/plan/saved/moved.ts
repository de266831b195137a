import type { Json } from '../../model/json.ts';

/** Something that is not as it was when the plan was made, and not as the plan would leave it either. */
export interface Moved {
  /** As it is shown. */
  readonly address: string;
  /** A top-level field; absent: the resource as a whole. */
  readonly field?: string;
  /** What happened to the resource as a whole. */
  readonly message?: string;
  readonly planned?: Json;
  readonly live?: Json;
}
