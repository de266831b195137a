import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPlanFile, writePlanFile } from '../../src/cli/reconcile/plan-file.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { diff } from '../../src/kinds/diff.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Change } from '../../src/model/change.ts';
import { createOrderedWrites } from '../../src/plan/order.ts';
import { renderPlanJson } from '../../src/report/machine/json.ts';
import { createPlan } from '../report/sample-plans.ts';

const HEADERS = { ['__proto__']: 'a', constructor: 'b', '': 'c', '\u202e': '\ud800' };
const IDS = { edge_id: 'edghts_web', id: 'edghtsrt_api' };

const KIND = getKind('HTTPSEdgeRoute');
const LIVE = { id: 'edghtsrt_api', spec: canonical(KIND, IDS, AS_WRITTEN) };
const DESIRED = canonical(KIND, { ...IDS, request_headers: { add: HEADERS } }, AS_WRITTEN);

const CHANGE: Change = {
  address: 'HTTPSEdgeRoute/api',
  kind: KIND.name,
  action: 'update',
  differences: diff(KIND, LIVE.spec, DESIRED).map((difference) => ({ ...difference, origin: 'unknown' })),
  live: { id: LIVE.id, spec: LIVE.spec },
  desired: DESIRED,
  sent: { request_headers: { add: HEADERS } },
};

const PLAN = createPlan({ changes: [CHANGE], writes: createOrderedWrites([CHANGE], 'production') });

describe('a mutated plan file', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-plan-file-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('keeps every key of what users wrote', async () => {
    await writePlanFile('plan.json', renderPlanJson(PLAN), { cwd: folder, uid: process.getuid?.() });
    expect(await readPlanFile('plan.json', { uid: undefined, cwd: folder })).toEqual(PLAN);
  });

  it.each([
    ['edge_id', 'an id'],
    ['edge_id', '../edghts_web'],
    ['id', ''],
  ])('is refused if the %s of a write is not an id: %j', async (name, id) => {
    const writes = PLAN.writes.map((write) => ({ ...write, path: '/x', ids: { ...IDS, [name]: id } }));
    const text = renderPlanJson(PLAN);
    const file = JSON.parse(text);
    file.stacks[0].plan.writes = writes;
    writeFileSync(join(folder, 'plan.json'), JSON.stringify(file));
    await expect(readPlanFile('plan.json', { uid: undefined, cwd: folder })).rejects.toThrow(
      /plan\.json is not a plan file: the ids of .* are not ids/,
    );
  });

  it('is refused as an approval if it is a pipe, and does not hold the run', async () => {
    execFileSync('mkfifo', [join(folder, 'plan.json')]);
    await expect(readPlanFile('plan.json', { uid: undefined, cwd: folder, onlyFiles: true })).rejects.toThrow(
      /plan\.json is a pipe/,
    );
  });

  it('is not written through a link, which stays a link', async () => {
    writeFileSync(join(folder, 'real.json'), 'old');
    symlinkSync('real.json', join(folder, 'link.json'));
    const written = writePlanFile('link.json', renderPlanJson(PLAN), { cwd: folder, uid: process.getuid?.() });
    await expect(written).rejects.toThrow('link.json is a symbolic link, and is not overwritten.');
    expect(lstatSync(join(folder, 'link.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'real.json'), 'utf8')).toBe('old');
    expect(readdirSync(folder).sort()).toEqual(['link.json', 'real.json']);
  });

  it('does not replace a device', async () => {
    await writePlanFile('/dev/null', renderPlanJson(PLAN), { cwd: folder, uid: process.getuid?.() });
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});
