import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Ended } from '../end-to-end/processes.ts';

/** Secrets of a pipeline, and a check that an output has none of them. */

export const KEY = 'k3y_of-the/pipeline-4711';
export const TOKEN = 'glpat-0123456789abcdef';

export const STACK = `${JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'shop' } })}\n`;

/** An edge with this spec. */
export function toEdge(spec: object, more: object = {}): string {
  const metadata = { name: 'a' };
  return `---\n${JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'TCPEdge', metadata, spec, ...more })}\n`;
}

/** Returns everything that a run produced: its output, and each file in its folder that is new. */
export function readAll({ stdout, stderr }: Ended, folder: string, before: readonly string[]): string {
  const files = readdirSync(folder, { recursive: true }).map(String);
  const made = files.filter((file) => !before.includes(file) && statSync(join(folder, file)).isFile());
  return [stdout, stderr, ...made.map((file) => readFileSync(join(folder, file), 'utf8'))].join('\n');
}

/** Expects that a text has no secret in any form. */
export function expectNoSecret(text: string): void {
  for (const secret of [KEY, TOKEN])
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(0, -4)])
      expect(text).not.toContain(form);
  expect(text.replaceAll('\\', '')).not.toContain(KEY);
}
