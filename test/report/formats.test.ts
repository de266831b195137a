import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../cli/fake-context.ts';
import { FORMAT_CHECKS } from './format-checks.ts';

const PAGE = readFileSync(new URL('../../docs/reference/reports.md', import.meta.url), 'utf8');

/** Lists the formats of a command, from its error about an unknown one. */
async function listOffered(command: string): Promise<readonly string[]> {
  const { stderr } = await runCommand([command, '--report', 'none=file'], { cwd: '/' });
  return /The formats are (.*)\./.exec(stderr)?.[1]?.split(', ') ?? [];
}

// The compiler requires a check of each format in the table.
describe.each(Object.keys(FORMAT_CHECKS))('the format %s', (name) => {
  it('is offered by a command', async () => {
    const offered = await Promise.all(['validate', 'plan', 'apply', 'drift'].map(listOffered));
    expect(offered.flat()).toContain(name);
  });

  it('is described', () => {
    expect(PAGE.split('\n').filter((line) => line.startsWith('| `') && line.includes(`\`${name}\``))).toHaveLength(1);
  });
});
