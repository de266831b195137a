import { readFileSync } from 'node:fs';
import type { Step } from '../plan/step.ts';

/** Against the direction, and back again. */
export interface Page {
  readonly steps: readonly Step[];
}

export const TEXT = readFileSync('page.txt', 'utf8');
