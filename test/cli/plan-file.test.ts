import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPlanFile, writePlanFile } from '../../src/cli/plan-file.ts';
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
});
