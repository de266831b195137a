import { describe, it } from 'vitest';
import { IS_FULL } from './tries.ts';

/** Tests that take long: processes that are killed, large accounts. */
export const describeLong = describe.runIf(IS_FULL);

/** One such test. */
export const itLong = it.runIf(IS_FULL);
