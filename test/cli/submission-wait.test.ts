import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import type { ServerOptions } from '../../src/server/index.ts';
import { type FakeOptions, NOW } from './fake-context.ts';
import { createWorkspace, toTranscript, type Workspace } from './workspace.ts';

const URLS = 'https://phishing.example.com/login https://nowhere.invalid/x';
const MISSING = 'abrp_000000000000000000000000000';

/** One of the two host names is decided, and the other never. */
const HALF = { hostname: 'invalid', status: 'IGNORE', after_seconds: 60 } as const;

/** A workspace with one clock for commands and server. It advances while a command sleeps. */
async function createClockedWorkspace(
  options: Partial<ServerOptions> = {},
): Promise<Workspace & { readonly slept: readonly number[] }> {
  let time = NOW.getTime();
  const now = (): Date => new Date(time);
  const slept: number[] = [];
  const sleep: FakeOptions['sleep'] = async (ms) => {
    slept.push(ms / 1000);
    time += ms;
  };
  const workspace = await createWorkspace({}, { now, ...options });
  const edgewise: Workspace['edgewise'] = (line, more) => workspace.edgewise(line, { now, sleep, ...more });
  return { ...workspace, edgewise, slept };
}

async function submit({ edgewise }: Workspace, urls = URLS): Promise<string> {
  const { stdout } = await edgewise(`abuse-report submit ${urls}`);
  return /abrp_\w+/.exec(stdout)?.[0] ?? '';
}

describe('abuse-report get --wait', () => {
  it('reads until the report is processed, and shows progress on stderr', async () => {
    const workspace = await createClockedWorkspace();
    const id = await submit(workspace);
    workspace.recorder.take();
    expect(toTranscript(await workspace.edgewise(`abuse-report get ${id} --wait`))).toMatchInlineSnapshot(`
      "exit code 0
      --- stdout
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PROCESSED, 2 of 2 host names decided
        submitted  2026-03-01T12:00:00Z
        urls       https://phishing.example.com/login
                   https://nowhere.invalid/x

        HOST NAME             STATUS
        phishing.example.com  BANNED
        nowhere.invalid       IGNORE
      --- stderr
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PENDING, 0 of 2 host names decided; waiting for 15 min more at most
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PARTIALLY_PROCESSED, 1 of 2 host names decided; waiting for 15 min more at most
      "
    `);
    expect(workspace.slept).toEqual([5, 10, 20]);
    expect(workspace.recorder.take()).toHaveLength(4);
  });

  it('reads ever less often, and ends at the time limit with the last state', async () => {
    const workspace = await createClockedWorkspace({ seed: { abuse_report_rules: [HALF] } });
    const id = await submit(workspace);
    const result = await workspace.edgewise(`abuse-report get ${id} --wait --wait-timeout 5m`);
    expect(toTranscript(result)).toMatchInlineSnapshot(`
      "exit code 1
      --- stdout
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PARTIALLY_PROCESSED, 1 of 2 host names decided
        submitted  2026-03-01T12:00:00Z
        urls       https://phishing.example.com/login
                   https://nowhere.invalid/x

        HOST NAME             STATUS
        phishing.example.com  PENDING
        nowhere.invalid       IGNORE
      --- stderr
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PENDING, 0 of 2 host names decided; waiting for 5 min more at most
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PARTIALLY_PROCESSED, 1 of 2 host names decided; waiting for 4 min more at most
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PARTIALLY_PROCESSED, 1 of 2 host names decided; waiting for 3 min more at most
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PARTIALLY_PROCESSED, 1 of 2 host names decided; waiting for 105 s more at most
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PARTIALLY_PROCESSED, 1 of 2 host names decided; waiting for 45 s more at most
      edgewise: Timeout: abrp_3ALKRDJGD5v0XNqrF0OBShxPncb is not decided yet.
      The service continues its work. To wait longer, run the same command again.
      "
    `);
    expect(workspace.slept).toEqual([5, 10, 20, 40, 60, 60, 60, 45]);
  });

  it('waits for a quarter of an hour by default', async () => {
    const workspace = await createClockedWorkspace({ seed: { abuse_report_rules: [] } });
    const id = await submit(workspace);
    expect(await workspace.edgewise(`abuse-report get ${id} --wait`)).toMatchObject({ exitCode: 1 });
    expect(workspace.slept.reduce((sum, seconds) => sum + seconds)).toBe(15 * 60);
  });

  it('prints one JSON document, whatever happens', async () => {
    const workspace = await createClockedWorkspace({ seed: { abuse_report_rules: [HALF] } });
    const id = await submit(workspace);
    const line = `abuse-report get ${id} --wait --wait-timeout 2m --format json`;
    const late = await workspace.edgewise(line);
    expect(late).toMatchObject({ exitCode: 1 });
    expect(JSON.parse(late.stdout)).toMatchObject({
      ok: false,
      error: { message: `Timeout: ${id} is not decided yet.` },
      report: { id, status: 'PARTIALLY_PROCESSED' },
    });
    const done = await workspace.edgewise(line.replace(id, await submit(workspace, 'https://a.invalid/')));
    expect(done.exitCode).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ ok: true, report: { status: 'PROCESSED' } });
  });

  it('stays on one line of a terminal, and removes it at the end', async () => {
    const workspace = await createClockedWorkspace();
    const id = await submit(workspace);
    const { stdout, stderr } = await workspace.edgewise(`abuse-report get ${id} --wait --no-color`, { terminal: 60 });
    const lines = stderr.split('\r\u001b[K');
    expect(lines).toEqual(['', expect.stringContaining('PENDING'), expect.anything(), expect.anything(), '']);
    for (const line of lines) expect(line.length).toBeLessThan(60);
    expect(stderr).not.toContain('\n');
    expect(stdout).toContain('PROCESSED, 2 of 2');
  });

  it('fails if a read fails for good', async () => {
    const workspace = await createClockedWorkspace();
    const id = await submit(workspace);
    let reads = 0;
    const transport: Transport = async (request) => {
      reads += 1;
      return reads > 1 ? new Response('gone', { status: 403 }) : workspace.recorder.transport(request);
    };
    const result = await workspace.edgewise(`abuse-report get ${id} --wait`, { transport });
    expect(result).toMatchObject({ exitCode: 4, stdout: '' });
    expect(reads).toBe(2);
  });
});

describe('abuse-report get --wait, interrupted', () => {
  it('ends at once with the last state and exit code 130', async () => {
    const workspace = await createClockedWorkspace();
    const id = await submit(workspace);
    let interrupt = (): void => undefined;
    const options: Partial<FakeOptions> = {
      onListen: (listener) => (interrupt = listener),
      sleep: async (_, signal) => {
        expect(signal?.aborted).toBe(false);
        interrupt();
        expect(signal?.aborted).toBe(true);
      },
    };
    const result = await workspace.edgewise(`abuse-report get ${id} --wait`, options);
    expect(toTranscript(result)).toMatchInlineSnapshot(`
      "exit code 130
      --- stdout
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PENDING, 0 of 2 host names decided
        submitted  2026-03-01T12:00:00Z
        urls       https://phishing.example.com/login
                   https://nowhere.invalid/x

        HOST NAME             STATUS
        phishing.example.com  PENDING
        nowhere.invalid       PENDING
      --- stderr
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PENDING, 0 of 2 host names decided; waiting for 15 min more at most
      edgewise: Interrupted: abrp_3ALKRDJGD5v0XNqrF0OBShxPncb is not decided yet.
      The service continues its work. To wait longer, run the same command again.
      "
    `);
    const json = await workspace.edgewise(`abuse-report get ${id} --wait --format json`, options);
    expect(json.exitCode).toBe(130);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, report: { id, status: 'PENDING' } });
    expect(json.exits).toEqual([]);
  });

  it('does not wait for a running request', async () => {
    const { edgewise } = await createWorkspace();
    let interrupt = (): void => undefined;
    const transport: Transport = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        void setImmediate().then(() => interrupt());
      });
    const options: Partial<FakeOptions> = { transport, onListen: (listener) => (interrupt = listener) };
    const result = await edgewise(`abuse-report get ${MISSING} --wait`, options);
    expect(result).toMatchObject({ exitCode: 130, stdout: '' });
    expect(result.stderr).toBe(`edgewise: Interrupted before ${MISSING} was read.\n`);
    const json = await edgewise(`abuse-report get ${MISSING} --wait --format json`, options);
    expect(json.exitCode).toBe(130);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false });
  });

  it('ends the process after a second interrupt', async () => {
    const { edgewise } = await createWorkspace();
    const onListen = (interrupt: () => void): void => {
      interrupt();
      interrupt();
    };
    expect((await edgewise(`abuse-report get ${MISSING} --wait`, { onListen })).exits).toEqual([130]);
  });
});
