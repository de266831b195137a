import { describe, expect, it } from 'vitest';
import { applyPlan } from '../../src/apply/apply.ts';
import type { TokenSink } from '../../src/apply/token-sinks.ts';
import { ObservedResponseFields } from '../../src/kinds/observed-response-fields.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { ApiError, NetworkError } from '../../src/model/errors.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { type MarkDraft, renderMetadata } from '../../src/model/mark.ts';
import type { ApplyEvent, ApplyResult } from '../../src/model/outcome.ts';
import { NO_OP_SECRET_REDACTOR } from '../../src/model/secrets.ts';
import { toWriteId, type Write } from '../../src/model/write.ts';
import { createPlan, createWrite } from '../report/sample-plans.ts';

const MARK: MarkDraft = {
  stack: 's',
  name: 'agent',
  protect: false,
  delivered: false,
  user: '',
  fields: {},
  pending: {},
};

const CREATE: Write = {
  purpose: 'create',
  method: 'POST',
  id: toWriteId({ purpose: 'create', address: 'Credential/agent' }),
  address: 'Credential/agent',
  kind: 'Credential',
  body: {},
  mark: MARK,
  dependsOn: [],
  last: false,
  reason: '',
};

const DELIVER: Write = {
  purpose: 'deliver',
  method: 'PATCH',
  id: toWriteId({ purpose: 'deliver', address: 'Credential/agent' }),
  address: 'Credential/agent',
  kind: 'Credential',
  mark: { ...MARK, delivered: true },
  dependsOn: [CREATE.id],
  last: false,
  reason: '',
};

const REMOVE = createWrite('delete', 'TCPEdge/old', { resourceId: 'edgtcp_1' });

const WORKING: TokenSink = { test: async () => [], deliver: async ({ name }) => `safe/${name}` };
const BROKEN: TokenSink = { test: async () => [], deliver: () => Promise.reject(new Error('disk full')) };

const NEVER = new AbortController().signal;

interface Run {
  readonly answer: (method: string, path: string) => JsonObject | null | Error;
  /** The contents of each list. Absent: the resource that was created. */
  readonly list?: () => readonly JsonObject[];
  /** What a GET of a path shows. Absent: the client cannot read one resource. */
  readonly get?: (path: string) => JsonObject;
  /** `null`: the credential has no sink. */
  readonly sink?: TokenSink | null;
  readonly rescue?: TokenSink;
  readonly sleep?: () => Promise<void>;
  readonly signal?: AbortSignal;
  readonly diagnostics?: readonly Diagnostic[];
}

/** Applies writes to a service with the given responses. */
async function applyWrites(
  writes: readonly Write[],
  {
    answer,
    list,
    get,
    sink = WORKING,
    rescue = WORKING,
    sleep = async () => undefined,
    signal = NEVER,
    diagnostics = [],
  }: Run,
) {
  const sent: string[] = [];
  const made: JsonObject[] = [];
  const events: ApplyEvent[] = [];
  const result = await applyPlan(createPlan({ stack: 's', writes, diagnostics }), {
    client: {
      limit: Object.assign(<T>(run: () => Promise<T>) => run(), { inTurn: (start: () => void) => start() }),
      shown: new ObservedResponseFields(NO_OP_SECRET_REDACTOR),
      send: async (method, path) => {
        sent.push(`${method} ${path}`);
        const answered = answer(method, path);
        if (answered instanceof Error) throw answered;
        if (method === 'POST' && answered !== null) made.unshift(answered);
        return answered;
      },
      list: async ({ path }) => {
        sent.push(`GET ${path}`);
        return list === undefined ? made : list();
      },
      ...(get !== undefined && {
        get: async (path) => {
          sent.push(`GET ${path}`);
          return get(path);
        },
      }),
    },
    sinks: { find: () => sink ?? undefined, rescue },
    onEvent: (event) => void events.push(event),
    now: () => new Date('2026-03-01T12:00:00Z'),
    sleep,
    signal,
    ids: new Map(),
  });
  return { result, sent, events };
}

function formatOutcomes({ outcomes }: ApplyResult): readonly string[] {
  return outcomes.map((one) => `${one.write.id}: ${one.outcome}${'message' in one ? `: ${one.message}` : ''}`);
}

/** Metadata with a mark. `id`: that of a credential whose token was delivered. */
function toMetadata({ id, name = 'agent' }: { readonly id?: string; readonly name?: string } = {}): string {
  const mark = { stack: 's', name, protect: false, delivered: id !== undefined, fields: {} };
  return renderMetadata('', id === undefined ? mark : { ...mark, id });
}

const createResponseBody = (method: string): JsonObject => ({
  id: 'cr_1',
  acl: [],
  metadata: toMetadata(method === 'PATCH' ? { id: 'cr_1' } : {}),
  ...(method === 'POST' && { token: 'the-token' }),
});

function createRejection(status: number): ApiError {
  return new ApiError('no', {
    status,
    code: undefined,
    method: 'DELETE',
    path: '/',
    operationId: undefined,
    details: {},
  });
}

describe('a new credential', () => {
  it('is created, then its token is delivered, then the delivery is recorded', async () => {
    const { result, sent } = await applyWrites([CREATE, DELIVER], { answer: createResponseBody });
    expect(sent).toEqual(['POST /credentials', 'GET /credentials', 'PATCH /credentials/cr_1']);
    expect(result.tokens).toEqual([{ address: 'Credential/agent', deliveredTo: 'safe/agent', rescued: false }]);
    expect(result.outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'applied']);
  });

  it('is not recorded as delivered if the sink fails, and its token is rescued', async () => {
    const { result, sent } = await applyWrites([CREATE, DELIVER], { answer: createResponseBody, sink: BROKEN });
    expect(sent).toEqual(['POST /credentials', 'GET /credentials']);
    expect(result.tokens).toEqual([{ address: 'Credential/agent', deliveredTo: 'safe/agent', rescued: true }]);
    expect(formatOutcomes(result)).toMatchInlineSnapshot(`
      [
        "create Credential/agent: applied",
        "deliver Credential/agent: failed: the credential was created, but its token could not be delivered (disk full); the token is in safe/agent. The next apply replaces the credential",
      ]
    `);
  });

  it('is recorded as delivered if the run is interrupted while its token is delivered', async () => {
    const stop = new AbortController();
    const deliver: TokenSink['deliver'] = async (credential, token) => {
      stop.abort(new Error('interrupted'));
      return WORKING.deliver(credential, token);
    };
    const run = { answer: createResponseBody, sink: { ...WORKING, deliver }, signal: stop.signal };
    const { result, sent } = await applyWrites([CREATE, DELIVER, REMOVE], run);
    expect(sent).toContain('PATCH /credentials/cr_1');
    expect(formatOutcomes(result).slice(0, 2)).toEqual([
      'create Credential/agent: applied',
      'deliver Credential/agent: applied',
    ]);
  });

  it('reports a token that cannot be rescued, without showing it', async () => {
    const { result } = await applyWrites([CREATE, DELIVER], {
      answer: createResponseBody,
      sink: BROKEN,
      rescue: BROKEN,
    });
    expect(formatOutcomes(result)[1]).toContain('could neither be delivered (disk full) nor rescued (disk full)');
    expect(JSON.stringify(result)).not.toContain('the-token');
  });

  it('is deleted again if the response has no token', async () => {
    const { result, sent } = await applyWrites([CREATE, DELIVER], {
      answer: () => ({ ...createResponseBody('POST'), token: null }),
    });
    expect(sent).toEqual(['POST /credentials', 'DELETE /credentials/cr_1']);
    expect(formatOutcomes(result)[0]).toContain(
      'the service did not show its token; cr_1, which this run created, was then deleted',
    );
  });

  it('fails if the response has no id, and its token is rescued', async () => {
    for (const answer of [() => ({ token: 'the-token' }), () => null, () => ({ id: '..', token: 'the-token' })]) {
      const { result, sent } = await applyWrites([CREATE, DELIVER], { answer, list: () => [] });
      expect(sent).toEqual(['POST /credentials', 'GET /credentials']);
      expect(formatOutcomes(result)[0]).toContain('the service did not return its id');
      expect(result.tokens).toHaveLength(answer() === null ? 0 : 1);
    }
  });

  it('says why its token is lost if the response has no id, and the token cannot be rescued', async () => {
    const { result } = await applyWrites([CREATE], {
      answer: () => ({ token: 'the-token' }),
      list: () => [],
      rescue: BROKEN,
    });
    expect(formatOutcomes(result)[0]).toContain('the token in the response could not be rescued (disk full)');
  });

  it('is unknown if the response has no id, and the look-up by its mark gets no response', async () => {
    const list = () => {
      throw new NetworkError('no response');
    };
    const { result } = await applyWrites([CREATE], { answer: () => ({ token: 'the-token' }), list });
    expect(formatOutcomes(result)[0]).toContain('the service did not return its id');
  });

  it('does not hide a bug in the look-up by its mark', async () => {
    const list = () => {
      throw new TypeError('a bug');
    };
    const run = applyWrites([CREATE], { answer: () => ({ token: 'the-token' }), list });
    await expect(run).rejects.toThrow('a bug');
  });

  it('is found by its mark if the response has no id', async () => {
    const answer = (method: string) =>
      method === 'POST' ? { ...createResponseBody(method), id: null } : createResponseBody(method);
    const { result, sent } = await applyWrites([CREATE, DELIVER], { answer, list: () => [createResponseBody('POST')] });
    expect(sent).toContain('PATCH /credentials/cr_1');
    expect(result.outcomes).toMatchObject([{ outcome: 'applied', id: 'cr_1' }, { outcome: 'applied' }]);
  });

  it('is deleted again if the service does not store its mark', async () => {
    const { result, sent } = await applyWrites([CREATE, DELIVER], {
      answer: () => ({ ...createResponseBody('POST'), metadata: '' }),
    });
    expect(sent).toEqual(['POST /credentials', 'DELETE /credentials/cr_1']);
    expect(formatOutcomes(result)[0]).toContain('did not keep the metadata of');
    expect(result.tokens).toEqual([]);
  });

  it('is named in the error, with a remedy, if it cannot be deleted again', async () => {
    const answer = (method: string) =>
      method === 'DELETE' ? createRejection(500) : { ...createResponseBody('POST'), metadata: '' };
    const { result } = await applyWrites([CREATE, DELIVER], { answer });
    expect(formatOutcomes(result)[0]).toMatch(
      /cr_1, which this run created, could not be deleted \(.*\). Delete it by hand$/,
    );
  });

  it('replaces the old credential even if the delivery cannot be recorded, and no other write follows', async () => {
    const old = createWrite('delete', 'Credential/agent', { resourceId: 'cr_0', dependsOn: [CREATE.id, DELIVER.id] });
    const update = createWrite('update', 'TCPEdge/api', { dependsOn: [DELIVER.id] });
    const answer = () => createResponseBody('POST');
    const { result, sent } = await applyWrites([CREATE, DELIVER, old, update], { answer });
    expect(formatOutcomes(result)[1]).toContain('the service did not accept metadata');
    expect(sent).toContain('DELETE /credentials/cr_0');
    expect(result.outcomes[3]).toMatchObject({ outcome: 'skipped', waitedFor: [DELIVER.id] });
  });

  it('says that it stays, delivered, if the record of its delivery removes its mark', async () => {
    const answer = (method: string) => ({ ...createResponseBody(method), ...(method === 'PATCH' && { metadata: '' }) });
    const { result, sent } = await applyWrites([CREATE, DELIVER], { answer, get: () => answer('PATCH') });
    expect(formatOutcomes(result)[1]).toContain(
      'its token was delivered, so cr_1 stays; but the update removed the mark of cr_1',
    );
    expect(sent.filter((one) => one.startsWith('DELETE'))).toEqual([]);
  });

  it.each([
    ['has recorded its delivery', 1, [true]],
    ['records its delivery a moment later', 2, [false, true]],
    ['never records it', 7, [false, false, false, false, false, false, false]],
  ])('that was deleted before its record lists again until the apply that replaced it %s', async (_, looks, marks) => {
    const shown = [...marks];
    let lists = 0;
    const toReplacement = (isDelivered: boolean): JsonObject => ({
      id: 'cr_2',
      acl: [],
      metadata: toMetadata(isDelivered ? { id: 'cr_2' } : {}),
    });
    const { result, sent } = await applyWrites([CREATE, DELIVER], {
      answer: (method, path) =>
        path.endsWith('cr_1') && method === 'PATCH' ? createRejection(404) : createResponseBody(method),
      list: () => {
        lists += 1;
        return lists === 1 ? [createResponseBody('POST')] : [toReplacement(shown.shift() ?? false)];
      },
    });
    const isDelivered = marks.includes(true);
    expect(lists).toBe(1 + looks);
    expect(formatOutcomes(result)[1]).toContain(
      isDelivered ? 'so cr_2 counts as not delivered, and the next apply replaces it' : 'that token no longer works',
    );
    expect(sent.includes('PATCH /credentials/cr_2')).toBe(isDelivered);
  });

  it('that was replaced before its record does not say that the other one is replaced if it cannot be marked so', async () => {
    const replacement = { id: 'cr_2', acl: [], metadata: toMetadata({ id: 'cr_2' }) };
    let lists = 0;
    const { result, sent } = await applyWrites([CREATE, DELIVER], {
      answer: (method, path) => {
        if (method === 'POST') return createResponseBody(method);
        return createRejection(path.endsWith('cr_2') ? 403 : 404);
      },
      list: () => {
        lists += 1;
        return [lists === 1 ? createResponseBody('POST') : replacement];
      },
    });
    expect(sent).toContain('PATCH /credentials/cr_2');
    expect(result.outcomes[1]).toMatchObject({ outcome: 'failed', status: 403, message: 'no' });
  });

  it('is delivered once, after the delete on which its record depends, although the record is tried again', async () => {
    const deliveredAfter: string[][] = [];
    const old = createWrite('delete', 'Credential/agent', { resourceId: 'cr_0', dependsOn: [CREATE.id] });
    const record = { ...DELIVER, dependsOn: [CREATE.id, old.id] };
    const sink: TokenSink = { ...WORKING, deliver: async () => String(deliveredAfter.push([...methods])) };
    const methods: string[] = [];
    const answer = (method: string) => {
      methods.push(method);
      return methods.join(' ').endsWith('DELETE PATCH') ? createRejection(409) : createResponseBody(method);
    };
    const { result } = await applyWrites([CREATE, old, record], { answer, sink });
    expect(result.outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied']);
    expect(methods).toEqual(['POST', 'DELETE', 'PATCH', 'PATCH']);
    expect(deliveredAfter).toEqual([['POST', 'DELETE']]);
  });

  it('is delivered also if the delete on which its record depends is rejected', async () => {
    const old = createWrite('delete', 'Credential/agent', { resourceId: 'cr_0', dependsOn: [CREATE.id] });
    const { result } = await applyWrites([CREATE, old, { ...DELIVER, dependsOn: [CREATE.id, old.id] }], {
      answer: (method) => (method === 'DELETE' ? createRejection(403) : createResponseBody(method)),
    });
    expect(result.tokens).toEqual([{ address: 'Credential/agent', deliveredTo: 'safe/agent', rescued: false }]);
    expect(result.outcomes.map(({ outcome }) => outcome)).toEqual(['applied', 'failed', 'applied']);
  });

  it('reports a creation that may have taken effect differently from a rejected one', async () => {
    for (const [error, isUnknown] of [
      [new NetworkError('reset'), true],
      [new NetworkError('refused', { isUnsent: true }), false],
      [createRejection(503), true],
      [createRejection(409), false],
    ] as const) {
      const { result } = await applyWrites([CREATE, DELIVER], { answer: () => error });
      expect(result.outcomes[0]).toMatchObject({ outcome: 'failed', isUnknown });
      expect(result.outcomes[1]).toMatchObject({ outcome: 'skipped', waitedFor: [CREATE.id] });
    }
  });

  it('is not tried again after a conflict if another apply has created it, although it follows a delete', async () => {
    const old = createWrite('delete', 'Credential/agent', { resourceId: 'cr_0' });
    let pauses = 0;
    const { result } = await applyWrites([old, { ...CREATE, dependsOn: [old.id] }], {
      answer: (method) => (method === 'POST' ? createRejection(409) : null),
      get: () => ({ credentials: [{ ...createResponseBody('GET'), id: 'cr_2' }] }),
      sleep: async () => {
        pauses += 1;
      },
    });
    expect(pauses).toBe(0);
    expect(result.diagnostics).toMatchObject([{ code: 'concurrent-change', address: CREATE.address }]);
  });

  it('is looked for as that of another apply only after a conflict', async () => {
    for (const [status, looks] of [
      [409, ['GET /credentials?limit=100']],
      [403, []],
    ] as const) {
      const { sent } = await applyWrites([CREATE], {
        answer: () => createRejection(status),
        get: () => ({ credentials: [] }),
      });
      expect(sent).toEqual(['POST /credentials', ...looks]);
    }
  });
});

describe('an update', () => {
  const UPDATE = createWrite('update', 'TCPEdge/api', { resourceId: 'edgtcp_1' });

  it('without a response is no creation that may have taken effect', async () => {
    const { result } = await applyWrites([UPDATE], { answer: () => createRejection(503) });
    expect(result.outcomes).toMatchObject([{ outcome: 'failed', isUnknown: false }]);
  });

  it('whose response has no mark has not removed it if the resource cannot be read', async () => {
    const get = () => {
      throw createRejection(403);
    };
    const other = createWrite('update', 'TCPEdge/web', { resourceId: 'edgtcp_2' });
    const { result, sent } = await applyWrites([UPDATE, other], { answer: () => ({ id: 'edgtcp_1' }), get });
    expect(formatOutcomes(result)).toEqual(['update TCPEdge/api: failed: no', 'update TCPEdge/web: failed: no']);
    expect(sent).toContain('PATCH /edges/tcp/edgtcp_2');
  });
});

it('a new resource that the service stores otherwise has failed', async () => {
  const edge = createWrite('create', 'TCPEdge/api', { body: { hostports: ['1.tcp.example.net:20001'] } });
  const answer = () => ({
    id: 'edgtcp_1',
    hostports: ['1.tcp.example.net:20002'],
    metadata: toMetadata({ name: 'a' }),
  });
  const { result } = await applyWrites([edge], { answer });
  expect(formatOutcomes(result)).toEqual([
    'create TCPEdge/api: failed: the service did not accept hostports: ["1.tcp.example.net:20001"] was sent, ["1.tcp.example.net:20002"] came back',
  ]);
});

describe('a delete', () => {
  it('counts as applied if the resource is already gone', async () => {
    const { result } = await applyWrites([REMOVE], { answer: () => createRejection(404) });
    expect(result.outcomes).toMatchObject([{ outcome: 'applied', id: 'edgtcp_1' }]);
  });

  it('fails if it is rejected, and independent writes continue', async () => {
    const { result } = await applyWrites([REMOVE, CREATE], {
      answer: (method) => (method === 'DELETE' ? createRejection(409) : createResponseBody(method)),
    });
    expect(result.outcomes.map(({ outcome }) => outcome)).toEqual(['failed', 'applied']);
  });
});

it('starts the last writes when all others have succeeded or failed', async () => {
  const last = createWrite('delete', 'IPRestriction/api', { resourceId: 'ipx_1', last: true });
  const { sent } = await applyWrites([REMOVE, CREATE, last], {
    answer: (method) => (method === 'POST' ? new NetworkError('reset') : null),
  });
  expect(sent.at(-1)).toBe('DELETE /ip_restrictions/ipx_1');
});

describe('an unexpected error', () => {
  const bug = () => new RangeError('a bug');
  const throwBug = () => {
    throw bug();
  };
  const EDGE = createWrite('create', 'HTTPSEdge/api', { mark: { ...MARK, name: 'api' } });
  const OLD = createWrite('delete', 'Credential/agent', { resourceId: 'cr_0', dependsOn: [CREATE.id] });
  const LATE = { ...DELIVER, dependsOn: [CREATE.id, OLD.id] };
  const toEdge = () => ({ id: 'edghts_1', metadata: toMetadata({ name: 'api' }) });
  const withoutToken = (method: string) => (method === 'DELETE' ? bug() : { ...createResponseBody(method), token: '' });
  const doubtful: Diagnostic = { code: 'mark-lost', severity: 'warning', message: '', address: CREATE.address };
  const conflictAfterDelete = (method: string) => (method === 'DELETE' ? null : createRejection(409));
  const replaced = (method: string) => (method === 'PATCH' ? createRejection(404) : createResponseBody(method));

  it.each<readonly [string, readonly Write[], Run]>([
    ['of a write', [REMOVE], { answer: bug }],
    ['of the look for duplicates after the writes', [EDGE], { answer: toEdge, list: throwBug }],
    ['of the look for duplicates before a delivery', [CREATE], { answer: createResponseBody, list: throwBug }],
    ['of the GET that looks for the mark', [CREATE], { answer: () => ({ id: 'cr_1', token: 't' }), get: throwBug }],
    ['of the look for another apply after a conflict', [CREATE], { answer: () => createRejection(409), get: throwBug }],
    ['of the delete of a credential without a token', [CREATE], { answer: withoutToken }],
    [
      'of the second write of a mark',
      [CREATE],
      { answer: (method) => (method === 'PATCH' ? bug() : createResponseBody(method)), diagnostics: [doubtful] },
    ],
    [
      'of the pause after a conflict',
      [REMOVE, { ...EDGE, dependsOn: [REMOVE.id] }],
      { answer: conflictAfterDelete, sleep: () => Promise.reject(bug()) },
    ],
    [
      'of the pause before replacements are listed again',
      [CREATE, DELIVER],
      { answer: replaced, sleep: () => Promise.reject(bug()) },
    ],
  ])('%s rejects, instead of being an outcome', async (_, writes, run) => {
    await expect(applyWrites(writes, run)).rejects.toThrow('a bug');
  });

  it.each<readonly [string, readonly Write[]]>([
    ['at once', [CREATE, DELIVER]],
    ['after a delete', [CREATE, OLD, LATE]],
  ])('ends an apply whose token has no sink, if it is delivered %s', async (_, writes) => {
    const run = applyWrites(writes, { answer: createResponseBody, sink: null });
    await expect(run).rejects.toThrow('token sink');
  });
});

it('sends an id from a response to no other path', async () => {
  const answer = (method: string): JsonObject => ({
    ...createResponseBody(method),
    id: '../edges/tcp/edgtcp_theirs?$&',
  });
  const { sent } = await applyWrites([CREATE, DELIVER], { answer, list: () => [] });
  expect(sent).toEqual(['POST /credentials', 'GET /credentials']);
});
