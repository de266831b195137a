import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refusePlansAsManifests } from '../../src/cli/reconcile/approvals.ts';
import { writePlanFile } from '../../src/cli/reconcile/plan-file.ts';
import { createReadBudget } from '../../src/files/read-input.ts';
import { MAX_INPUT_BYTES, MAX_VALUES } from '../../src/model/json.ts';
import { createServer, writeSnapshotFile } from '../../src/server/index.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

/** What edgewise writes it can read again: plan files, snapshots and the file of the embedded server. */

describe('a snapshot', () => {
  it('that could not be read again is not written, and the former one stays', async () => {
    const { folder } = await createWorkspace();
    const file = join(folder, 'acc.json');
    const snapshot = createServer().snapshot();
    expect(await writeSnapshotFile(file, snapshot)).toBe(statSync(file).size);
    const before = await readFile(file, 'utf8');
    for (const [resources, why] of [
      [{ Credential: [{ metadata: 'x'.repeat(MAX_INPUT_BYTES) }] }, 'is larger than 32 MiB'],
      [{ Credential: [{ acl: Array.from({ length: MAX_VALUES }, () => 0) }] }, 'has more than 2,000,000 values'],
    ] as const)
      await expect(writeSnapshotFile(file, { ...snapshot, resources })).rejects.toThrow(
        `It ${why}, so it could not be`,
      );
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});

describe('the file of the embedded server', () => {
  it('takes large resources at once, as long as it has room for them', async () => {
    const toLarge = (index: number): string =>
      `${toEdge(`e${index}`, 20_001 + index)}  policy: { inbound: [{ name: a, actions: [{ type: log, config: { metadata: { k: "${'x'.repeat(900_000)}" } } }] }] }\n`;
    const edges = [0, 1, 2, 3].map((index) => [`e${index}.yaml`, toLarge(index).replace('---\n', '')]);
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': STACK, ...Object.fromEntries(edges) });
    const words = 'apply . --yes --no-rehearsal --base-url embedded:acc.json';
    expect(await edgewise(words)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('4 writes applied, 0'),
    });
    expect(statSync(join(folder, 'acc.json')).size).toBeGreaterThan(3_600_000);
  });
});

describe('a plan file', () => {
  it.each([
    ['is larger than 32 MiB', `{"format":1,"x":"${'é'.repeat(MAX_INPUT_BYTES / 2)}"}`],
    ['has more than 2,000,000 values', `{"format":1,"x":[${'0,'.repeat(MAX_VALUES)}0]}`],
  ])('that no apply could read is not written: it %s', async (finding, text) => {
    const { folder } = await createWorkspace();
    const context = { cwd: folder, uid: undefined };
    await expect(writePlanFile('plan.json', text, context)).rejects.toMatchObject({
      message: `The plan is not written to plan.json: it ${finding}, so no apply could read it.`,
      reason: 'failed',
    });
    expect(existsSync(join(folder, 'plan.json'))).toBe(false);
  });
});

describe('what is named as manifests', () => {
  it.each(['plans', 'plans/a.json'])(
    'ends an apply at the limit of a run, before it is known for a plan: %s',
    async (path) => {
      const { folder } = await createWorkspace({ 'plans/a.json': '{}' });
      const budget = createReadBudget({ maxBytes: 1, maxFiles: 1, of: 'one run' });
      await expect(refusePlansAsManifests([path], { cwd: folder, budget })).rejects.toMatchObject({
        message: expect.stringContaining('plans/a.json is where the limit of '),
        reason: 'invalid',
      });
    },
  );
});
