import { describe, expect, it } from 'vitest';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK } from './workspace.ts';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-07-01T12:00:00Z');

const toCredential = (name: string, more: string): string => `---
apiVersion: edgewise/v1
kind: Credential
metadata: { name: ${name} }
spec: { acl: ['bind:example.com'], description: ours }
lifecycle: { ${more} }
`;

/** Applies a manifest to an account, and runs each command line `days` later. */
async function runDaysLater(manifest: string, days: number, lines: readonly string[]): Promise<readonly string[]> {
  let ms = START;
  const now = (): Date => new Date(ms);
  const stack = `${STACK}spec: { tokens: { default: { directory: tokens } } }\n`;
  const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': `${stack}${manifest}` }, { now });
  expect(await edgewise('apply edgewise.yaml --yes', { now })).toMatchObject({ exitCode: 0 });
  const ignoring = manifest.includes('ignore') ? server.snapshot().resources['Credential'] : [];
  for (const { id } of ignoring ?? [])
    await sendByHand({ server }, 'PATCH', `/credentials/${id}`, { description: 'by hand' });
  ms += days * DAY_MS;
  const shown: string[] = [];
  for (const line of lines) shown.push((await edgewise(line, { now })).stdout);
  return shown;
}

describe('the list of unchanged resources', () => {
  it('is one line, however many credentials rotate later', async () => {
    const many = Array.from({ length: 60 }, (_, index) => toCredential(`c${index}`, 'rotate_after: 30d')).join('');
    const shown = await runDaysLater(many, 1, ['drift edgewise.yaml', 'drift edgewise.yaml --compact']);
    for (const text of shown) {
      expect(text).toContain('No drift: 60 resources are as they should be.');
      expect(text).not.toMatch(/rotates|c59/);
    }
  });

  it('has one table of those that are due within 14 days, the earliest first', async () => {
    const manifest = [
      toCredential('late', 'rotate_after: 25d'),
      toCredential('soon', 'rotate_after: 20d'),
      toCredential('next', 'rotate_after: 12d'),
    ].join('');
    const [text = '', compact = '', plan = '', json = ''] = await runDaysLater(manifest, 10, [
      'drift edgewise.yaml',
      'drift edgewise.yaml --compact',
      'plan edgewise.yaml',
      'drift edgewise.yaml --format json',
    ]);
    const table = `Due within 14 days:
  Credential/next  rotates in 2 days   2026-07-13 12:00 UTC
  Credential/soon  rotates in 10 days  2026-07-21 12:00 UTC
`;
    for (const shown of [text, compact, plan]) {
      expect(shown).toContain(table);
      expect(shown).not.toContain('rotates in 15 days');
    }
    const due = readOnlyStack(json).changes.map((change: { readonly due: object }) => change.due);
    expect(due).toContainEqual({ at: '2026-07-26T12:00:00.000Z', event: 'rotates' });
  });

  it('has notes that --compact counts, and lists them without it', async () => {
    const [text = '', compact = ''] = await runDaysLater(toCredential('a', 'ignore: [description]'), 0, [
      'drift edgewise.yaml',
      'drift edgewise.yaml --compact',
    ]);
    expect(text).toContain('  Credential/a: left to others: description (live: "by hand", in the manifest: "ours")');
    expect(compact).toContain('1 note on resources that are left as they are: shown without --compact.');
    expect(compact).not.toContain('Credential/a');
  });
});
