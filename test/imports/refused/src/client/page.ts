import { readFileSync } from 'node:fs';
import type { Credential } from '../kinds/tables/credential.ts';
import type { Step } from '../plan/step.ts';

/** Breaks the direction, forms a cycle, and names a single kind. */
export interface Page {
  readonly credential: Credential;
  readonly steps: readonly Step[];
}

export const TEXT = readFileSync('page.txt', 'utf8');
