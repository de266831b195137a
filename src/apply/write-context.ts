import type { WriteId } from '../model/write.ts';
import type { Meanwhile } from './changed-meanwhile.ts';
import type { Deliveries } from './deliveries.ts';
import type { Requests } from './requests.ts';
import type { SettleContext } from './settle-rivals.ts';

/** What one write takes, and where it leaves what later writes need. */
export interface WriteContext {
  readonly meanwhile: Meanwhile;
  readonly requests: Requests;
  readonly deliveries: Deliveries;
  readonly settle: SettleContext;
  /** The time at which a write is made: validities start there. */
  readonly now: () => Date;
  /** Ids of what was created, by address; grows. */
  readonly ids: Map<string, string>;
  /** Texts for files, by address; grows. */
  readonly texts: Map<string, string>;
  /** Records of deliveries that the service did not take; grows. */
  readonly unrecorded: Set<WriteId>;
}
