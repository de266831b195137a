import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { readPlanFile, writePlanFile } from '../../src/cli/reconcile/plan-file.ts';
import { renderPlanJson } from '../../src/report/machine/json.ts';
import { createResultJsonSchema } from '../../src/schemas/results.ts';
import { renderPlanText } from '../report/render.ts';
import { LONG } from '../tries.ts';
import { arbitraryHistory } from './arbitrary-manifests.ts';
import { holds } from './properties.ts';
import { World } from './world.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'edgewise-plan-file-'));
const conforms = new Ajv2020({ strict: false }).compile(createResultJsonSchema());

afterAll(() => rmSync(FOLDER, { recursive: true }));

const CONTEXT = {
  cwd: FOLDER,
  uid: process.getuid?.(),
  stderr: { write: () => undefined, isTerminal: false, columns: () => 0 },
};

describe('a saved plan', () => {
  it('is read back as it was, conforms to its schema, and does the same', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), async (stacks) => {
      const world = new World();
      for (const stack of stacks) {
        const plan = await world.plan(stack);
        await writePlanFile('plan.json', renderPlanJson(plan), CONTEXT);
        const text = await readFile(join(FOLDER, 'plan.json'), 'utf8');
        expect(conforms(JSON.parse(text)), JSON.stringify(conforms.errors)).toBe(true);
        const saved = await readPlanFile('plan.json', { uid: undefined, cwd: FOLDER });
        expect(saved).toEqual(plan);
        await writePlanFile('again.json', renderPlanJson(saved), CONTEXT);
        expect(await readFile(join(FOLDER, 'again.json'), 'utf8')).toBe(text);
        await world.apply(saved);
        expect((await world.plan(stack)).writes).toEqual([]);
      }
    });
    await holds(property, 20);
  });

  it('is shown, whatever it contains', LONG, async () => {
    const property = fc.asyncProperty(arbitraryHistory(1), fc.boolean(), async ([first = [], second = []], verbose) => {
      const world = new World();
      await world.migrate(first);
      const plan = await world.plan(second);
      const text = renderPlanText(plan, { color: false, width: 100, verbose });
      for (const { action, address } of plan.changes) if (action !== 'no-op') expect(text).toContain(address);
    });
    await holds(property, 20);
  });
});
