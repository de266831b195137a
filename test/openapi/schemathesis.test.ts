import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { decodeBodyText } from '../../src/model/http.ts';
import { createServer, listen, parseApiKey, type Server } from '../../src/server/index.ts';
import { describeWith, runTool } from '../pipelines/tools.ts';
import { getObject, getText } from '../server/caller.ts';

/**
 * Requests of a program that knows only the OpenAPI document. The server accepts everything that the document allows, except what JSON Schema
 * cannot express. Each exception has its reason, and is needed.
 */
const EXCEPTIONS: readonly { readonly why: string; readonly operation: RegExp; readonly message: RegExp }[] = [
  {
    why: 'which resources there are',
    operation: /^(POST|PATCH|PUT) \/edges\/tcp/,
    message: /^(backend\.)?backend_id bkdwd_\S+ does not exist$/,
  },
  {
    why: 'that one time is later than another',
    operation: /^POST \/ssh_user_certificates$/,
    message: /^valid_until must be later than valid_after/,
  },
  {
    why: 'the numbers inside of a key',
    operation: /^POST \/ssh_user_certificates$/,
    message: /^public_key /,
  },
  {
    why: 'what is an address or a block of addresses, inside of a text',
    operation: /^POST \/ssh_user_certificates$/,
    message: /^critical_options\.source-address /,
  },
  {
    why: 'what is a regular expression',
    operation: /^PUT \/edges\/https\/\S+\/user_agent_filter$/,
    message: /^(allow|deny)\[\d+\] .* is not valid RE2 syntax/s,
  },
];

interface Refusal {
  readonly operation: string;
  readonly message: string;
}

const CHECKS = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance'];
const RESPONSE_CHECKS = ['response_headers_conformance', 'response_schema_conformance'];

/** Few cases of each operation, always the same ones, and only valid ones. */
const ARGS = ['--mode', 'positive', '--max-examples', '10', '--generation-deterministic', '--continue-on-failure'];

/** A server that records the requests that it rejects. */
function createStrictServer(refusals: Refusal[], statuses: number[]): Server {
  const server = createServer({
    apiKeys: [parseApiKey('dev:admin')],
    idSeed: 'schemathesis',
    // The ids that Schemathesis tries most often.
    seed: { resources: { WeightedBackend: [{ id: 'bkdwd_0' }] } },
  });
  return server.behind((send) => async (request) => {
    const response = await send(request);
    statuses.push(response.status);
    if (response.status !== 400) return response;
    const body = getObject(JSON.parse(decodeBodyText(response.body)));
    refusals.push({ operation: `${request.method} ${new URL(request.url).pathname}`, message: getText(body['msg']) });
    return response;
  });
}

function isException({ operation, message }: Refusal, exception: (typeof EXCEPTIONS)[number]): boolean {
  return exception.operation.test(operation) && exception.message.test(message);
}

describeWith(['schemathesis'], 'a program that reads the OpenAPI document', () => {
  it('accepts everything that the document allows, and responds as documented', { timeout: 300_000 }, async () => {
    const refusals: Refusal[] = [];
    const statuses: number[] = [];
    const { url, close } = await listen(createStrictServer(refusals, statuses), { port: 0 });
    onTestFinished(close);
    const cwd = await mkdtemp(join(tmpdir(), 'edgewise-schemathesis-'));
    const headers = ['--header', 'Authorization: Bearer dev', '--header', 'Service-Version: 2'];
    const checks = ['--checks', [...CHECKS, ...RESPONSE_CHECKS].join(',')];
    const args = [
      'run',
      `${url}/openapi.json`,
      ...headers,
      ...ARGS,
      ...checks,
      '--phases',
      'examples,coverage,fuzzing',
    ];
    const { status, output } = await runTool('schemathesis', [...args, '--no-color'], { cwd });
    expect(status, output).toBe(0);
    expect(statuses.length).toBeGreaterThan(900);
    const open = refusals.filter((refusal) => !EXCEPTIONS.some((exception) => isException(refusal, exception)));
    expect(open).toEqual([]);
    const idle = EXCEPTIONS.filter((exception) => !refusals.some((refusal) => isException(refusal, exception)));
    expect(idle.map(({ why }) => why)).toEqual([]);
  });
});
