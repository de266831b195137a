import { lstatSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPlanFile, writePlanFile } from '../../src/cli/reconcile/plan-file.ts';
import { makePlan } from '../report/sample-plans.ts';

const HEADERS = { ['__proto__']: 'a', constructor: 'b', '': 'c', '\u202e': '\ud800' };
const IDS = { edge_id: 'edghts_web', id: 'edghtsrt_api' };

const PLAN = makePlan({
  changes: [
    {
      address: 'HTTPSEdgeRoute/api',
      kind: 'HTTPSEdgeRoute',
      action: 'update',
      differences: [],
      live: { id: 'edghtsrt_api', digest: '', spec: IDS },
      desired: { ...IDS, request_headers: { enabled: true, add: HEADERS, remove: [] } },
    },
  ],
  writes: [
    {
      id: 'set request_headers of HTTPSEdgeRoute/api',
      method: 'PUT',
      path: '/edges/https/edghts_web/routes/edghtsrt_api/request_headers',
      address: 'HTTPSEdgeRoute/api',
      kind: 'HTTPSEdgeRoute',
      module: 'request_headers',
      resourceId: 'edghtsrt_api',
      body: { add: HEADERS },
      needs: [],
      last: false,
      reason: 'sets request_headers',
    },
  ],
});

describe('a plan file', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-plan-file-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('keeps every key of what users wrote', async () => {
    await writePlanFile('plan.json', folder, PLAN);
    expect(await readPlanFile('plan.json', folder)).toEqual(PLAN);
  });

  it('is written through a link, which stays one', async () => {
    writeFileSync(join(folder, 'real.json'), 'old');
    symlinkSync('real.json', join(folder, 'link.json'));
    await writePlanFile('link.json', folder, PLAN);
    expect(lstatSync(join(folder, 'link.json')).isSymbolicLink()).toBe(true);
    expect(await readPlanFile('real.json', folder)).toEqual(PLAN);
    expect(readdirSync(folder).sort()).toEqual(['link.json', 'real.json']);
  });

  it('does not take the place of a device', async () => {
    symlinkSync('/dev/null', join(folder, 'device'));
    await writePlanFile('device', folder, PLAN);
    expect(statSync(join(folder, 'device')).isCharacterDevice()).toBe(true);
  });
});
