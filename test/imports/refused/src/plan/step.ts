import { exitCode } from 'node:process';
import type { Pool } from 'undici';
import { it } from 'vitest';
import type { Page } from '../client/page.ts';

/** A type-only import counts too, and so does a package that has its home elsewhere, or none. */
export interface Step {
  readonly page: Page;
  readonly pool: Pool;
}

export const CODE = it === undefined ? exitCode : 0;
