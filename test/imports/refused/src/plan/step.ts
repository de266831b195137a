import { exitCode } from 'node:process';
import type { Pool } from 'undici';
import { it } from 'vitest';
import type { Page } from '../client/page.ts';

/** An import of a type counts too, and so does a package that another room owns or that no room may import. */
export interface Step {
  readonly page: Page;
  readonly pool: Pool;
}

export const CODE = it === undefined ? exitCode : 0;
