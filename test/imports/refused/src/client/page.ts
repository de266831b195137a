import { readFileSync } from 'node:fs';
import type { Credential } from '../kinds/tables/credential.ts';
import type { Step } from '../plan/step.ts';

/** Against the direction and back again, and what one kind alone says. */
export interface Page {
  readonly credential: Credential;
  readonly steps: readonly Step[];
}

export const TEXT = readFileSync('page.txt', 'utf8');
