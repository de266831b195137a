import { describe, expect, it } from 'vitest';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import type { Transport } from '../../src/model/transport.ts';
import { parseApiKey } from '../../src/server/index.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, toTranscript } from './workspace.ts';

const URLS = 'https://phishing.example.com/login https://nowhere.invalid/x';
const MISSING = 'abrp_000000000000000000000000000';

describe('abuse-report submit', () => {
  it('submits a report, which is read by its id', async () => {
    const { edgewise } = await createWorkspace();
    const submitted = await edgewise(`abuse-report submit ${URLS} --metadata case-17`);
    expect(toTranscript(submitted)).toMatchInlineSnapshot(`
      "exit code 0
      --- stdout
      abrp_3ALKRDJGD5v0XNqrF0OBShxPncb: PENDING, 0 of 2 host names decided
        submitted  2026-03-01T12:00:00Z
        urls       https://phishing.example.com/login
                   https://nowhere.invalid/x
        metadata   case-17

        HOST NAME             STATUS
        phishing.example.com  PENDING
        nowhere.invalid       PENDING
      "
    `);
    const id = /abrp_\w+/.exec(submitted.stdout)?.[0];
    expect((await edgewise(`abuse-report get ${id}`)).stdout).toBe(submitted.stdout);
  });

  it('is explained with the article of what is submitted', async () => {
    const { edgewise } = await createWorkspace();
    expect((await edgewise('abuse-report --help')).stdout.replaceAll('\n', ' ')).toContain('decided about a report.');
    expect((await edgewise('abuse-report submit --help')).stdout).toContain('Submit a report.');
  });

  it('prints one JSON document', async () => {
    const { edgewise } = await createWorkspace();
    const { stdout } = await edgewise(`abuse-report submit ${URLS} --metadata case-17 --format json`);
    const { report, ...head } = JSON.parse(stdout);
    expect(head).toEqual({ format: 1, command: 'abuse-report submit', ok: true });
    expect(report).toMatchObject({ urls: URLS.split(' '), metadata: 'case-17', status: 'PENDING' });
    const got = JSON.parse((await edgewise(`abuse-report get ${report.id} --format json`)).stdout);
    expect(got).toEqual({ format: 1, command: 'abuse-report get', ok: true, report });
  });

  it('reports everything that is wrong, and sends nothing', async () => {
    const { edgewise, recorder } = await createWorkspace();
    const line = `abuse-report submit ${URLS} ftp://example.com example.org/x --metadata ${'ä'.repeat(2049)}`;
    expect(toTranscript(await edgewise(line))).toMatchInlineSnapshot(`
      "exit code 3
      --- stderr
      edgewise: \`ftp://example.com\` is not an absolute http or https URL
      \`example.org/x\` is not an absolute http or https URL
      --metadata is 4098 bytes long; the limit is 4096 bytes of UTF-8
      Nothing was sent.
      "
    `);
    const json = await edgewise(`${line} --format json`);
    expect(json.exitCode).toBe(3);
    expect(readOnlyStack(json.stdout)).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/ftp:.*\n.*example\.org.*\n.*4098/) },
    });
    expect(recorder.take()).toEqual([]);
  });

  it('shows a URL with control characters on one line', async () => {
    const { edgewise } = await createWorkspace();
    const { stderr } = await edgewise('abuse-report submit x\nedgewise:\u001b[2J');
    expect(stderr).toContain('`x\\nedgewise:\\u001b[2J` is not an absolute http or https URL\n');
  });

  it('names the permission that the account lacks', async () => {
    const { edgewise, recorder } = await createWorkspace({}, { apiKeys: [parseApiKey('dev')], idSeed: 'test' });
    expect(toTranscript(await edgewise(`abuse-report submit ${URLS}`))).toMatchInlineSnapshot(`
      "exit code 4
      --- stderr
      edgewise: The account of this API key lacks the permission to submit abuse reports. POST /abuse_reports: 403 forbidden: This API key is not authorized to report abuse (operation_id: op_3lVMcyhaouOWxeu8g3000000000)
      The service gives this permission to some accounts only: ask for it. On the bundled server it is a right of the key: see --api-key in edgewise help serve. If other commands are refused too, the key is wrong.
      "
    `);
    const json = await edgewise(`abuse-report submit ${URLS} --format json`);
    expect(json.exitCode).toBe(4);
    expect(readOnlyStack(json.stdout).error.message).toContain('lacks the permission to submit abuse reports');
    expect(recorder.take()).toHaveLength(2);
  });

  it.each([`submit ${URLS}`, `get ${MISSING}`])(
    'reports an unknown key differently, with the service: %s',
    async (line) => {
      const { edgewise } = await createWorkspace();
      const result = await edgewise(`abuse-report ${line}`, { env: { EDGEWISE_API_KEY: 'other' } });
      expect(result.exitCode).toBe(4);
      expect(result.stderr).toContain('The host api.test is set by EDGEWISE_BASE_URL');
      expect(result.stderr).not.toContain('permission to submit');
    },
  );
});

describe('abuse-report submit without a response', () => {
  /** Answers each request in the same way, and counts the requests. */
  function createCounter(answer: () => Promise<Response>): {
    readonly transport: Transport;
    readonly sent: () => number;
  } {
    let count = 0;
    const transport: Transport = () => {
      count += 1;
      return answer();
    };
    return { transport, sent: () => count };
  }

  it.each<[string, () => Promise<Response>]>([
    ['the connection breaks', () => Promise.reject(new NetworkError('the connection was lost'))],
    ['it takes too long', () => Promise.reject(new TimeoutError('no response in time'))],
    [
      'the service fails',
      async () => Response.json({ msg: 'oops', details: { operation_id: 'op_1' } }, { status: 500 }),
    ],
    ['a proxy gives up', async () => new Response('<html>', { status: 502 })],
    ['it is not JSON', async () => new Response('OK', { status: 201 })],
    ['it is empty', async () => new Response(null, { status: 201 })],
    ['it is no report', async () => Response.json({ urls: [] }, { status: 201 })],
  ])('does not send the report again, and says what is known: %s', async (_, answer) => {
    const { edgewise } = await createWorkspace();
    const { transport, sent } = createCounter(answer);
    const result = await edgewise(`abuse-report submit ${URLS}`, { transport });
    expect(result).toMatchObject({ exitCode: 1, stdout: '' });
    expect(result.stderr).toContain('It is not known whether the report was submitted.');
    expect(result.stderr).toContain('It was not sent again');
    expect(sent()).toBe(1);
    const json = await edgewise(`abuse-report submit ${URLS} --format json`, { transport });
    expect(json.exitCode).toBe(1);
    expect(readOnlyStack(json.stdout)).toMatchObject({ ok: false, error: { remedy: expect.stringContaining('Ask') } });
  });

  it('shows the status, the operation and the next step', async () => {
    const { edgewise } = await createWorkspace();
    const answer = { error_code: 'internal', msg: 'oops', details: { operation_id: 'op_1' } };
    const { transport } = createCounter(async () => Response.json(answer, { status: 500 }));
    expect(toTranscript(await edgewise(`abuse-report submit ${URLS}`, { transport }))).toMatchInlineSnapshot(`
      "exit code 1
      --- stderr
      edgewise: It is not known whether the report was submitted. POST /abuse_reports: 500 internal: oops (operation_id: op_1)
      It was not sent again, because that could submit it twice, and the service cannot list abuse reports. Ask the service whether it has a report like this. If you cannot find out, submit it again: the worst outcome is a second report.
      "
    `);
  });

  it('says that nothing was submitted if there was no connection or the service says so', async () => {
    const { edgewise } = await createWorkspace();
    const refused = createCounter(() => Promise.reject(new NetworkError('refused', { isUnsent: true })));
    const throttled = createCounter(async () => Response.json({ msg: 'slow down' }, { status: 429 }));
    for (const { transport } of [refused, throttled]) {
      const result = await edgewise(`abuse-report submit ${URLS}`, { transport });
      expect(result.exitCode).toBe(1);
      expect(result.stderr).not.toContain('It is not known');
    }
  });
});

describe('abuse-report get', () => {
  it('fails for a report that does not exist', async () => {
    const { edgewise } = await createWorkspace();
    for (const flag of ['', ' --wait']) {
      const result = await edgewise(`abuse-report get ${MISSING}${flag}`);
      expect(result.exitCode).toBe(1);
      expect(result.stderr).toContain(`There is no abuse report ${MISSING}`);
    }
  });

  it('fails for a response that is no report', async () => {
    const { edgewise } = await createWorkspace();
    const transport = async () => Response.json({ id: MISSING, hostnames: 'none' });
    const result = await edgewise(`abuse-report get ${MISSING}`, { transport });
    expect(result).toMatchObject({ exitCode: 1, stdout: '' });
    expect(result.stderr).toContain(`GET /abuse_reports/${MISSING}: the response`);
  });

  it.each([
    ['abuse-report get abrp_1 --wait-timeout 1m', '--wait-timeout works only with --wait'],
    ['abuse-report get abrp_1 --wait --wait-timeout 90', 'A duration is '],
    ['abuse-report get abrp_1 --wait --wait-timeout 0s', 'A duration is '],
    ['abuse-report get usr_1', 'The id of a report starts with abrp_.'],
    ['abuse-report get abrp_', 'The id of a report starts with abrp_.'],
  ])('refuses %s with exit code 3 and no request', async (line, why) => {
    const { edgewise, recorder } = await createWorkspace();
    const refused = { exitCode: 3, stdout: '', stderr: expect.stringContaining(why) };
    expect(await edgewise(line)).toMatchObject(refused);
    expect(recorder.take()).toEqual([]);
  });
});
