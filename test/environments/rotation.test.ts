import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toManifest } from '../cli/workspace.ts';
import { ENV } from '../installed/questions.ts';
import { createSandbox, type Ended, runLine } from '../installed/sandbox.ts';
import { toStack } from '../repository/tree.ts';

const CREDENTIAL = toManifest(
  'Credential',
  'agent',
  { acl: ['bind:*.example.com'] },
  { lifecycle: { keep_old_for: '12s' } },
);
// Long enough for three commands on a busy machine.
const KEPT_MS = 12_000;
const TOKENS = { tokens: { default: { directory: 'tokens', file: '{name}-{id}.token' } } };

describe('a rotation without a gap, with the installed program', () => {
  it('keeps the old credential until its time is over, then deletes it, and has nothing left to do', async () => {
    const sandbox = createSandbox({ 'm/edgewise.yaml': `${toStack('one', TOKENS)}${CREDENTIAL}` }, ENV);
    const run = async (line: string): Promise<Ended> => runLine(sandbox, `edgewise ${line}`);
    const listTokens = (): readonly string[] => readdirSync(join(sandbox.work, 'm/tokens')).sort();
    const listLive = (): readonly string[] =>
      readFileSync(join(sandbox.work, 'account.json'), 'utf8').match(/"id": ?"cr_\w+"/g) ?? [];

    expect(await run('apply m --yes')).toMatchObject({ exitCode: 0 });
    const rotated = await run('apply m --yes --rotate Credential/agent');
    expect(rotated).toMatchObject({ exitCode: 0 });
    expect(rotated.stdout).toContain('the old token works for another 12 seconds');
    expect(listTokens()).toHaveLength(2);
    expect(listLive()).toHaveLength(2);

    expect((await run('get m')).stdout).toContain('retires in');
    expect(await run('drift m')).toMatchObject({ exitCode: 0 });
    await sleep(KEPT_MS);
    const due = await run('plan m --detailed-exitcode');
    expect(due).toMatchObject({ exitCode: 2 });
    expect(due.stdout).toContain('0 to replace');
    expect(await run('apply m --yes')).toMatchObject({ exitCode: 0 });
    expect(listLive()).toHaveLength(1);
    expect((await run('plan m')).stdout).toContain('Nothing to do');
  });
});
