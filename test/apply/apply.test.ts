import { describe, expect, it } from 'vitest';
import { applyPlan } from '../../src/apply/apply.ts';
import type { TokenSink } from '../../src/apply/token-sinks.ts';
import { ObservedResponseFields } from '../../src/kinds/observed-response-fields.ts';
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
  readonly sink?: TokenSink;
  readonly rescue?: TokenSink;
  readonly signal?: AbortSignal;
}

/** Applies writes to a service with the given responses. */
async function applyWrites(
  writes: readonly Write[],
  { answer, list, sink = WORKING, rescue = WORKING, signal = NEVER }: Run,
) {
  const sent: string[] = [];
  const made: JsonObject[] = [];
  const events: ApplyEvent[] = [];
  const result = await applyPlan(createPlan({ stack: 's', writes }), {
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
    },
    sinks: { find: () => sink, rescue },
    onEvent: (event) => void events.push(event),
    now: () => new Date('2026-03-01T12:00:00Z'),
    sleep: async () => undefined,
    signal,
    ids: new Map(),
  });
  return { result, sent, events };
}

function formatOutcomes({ outcomes }: ApplyResult): readonly string[] {
  return outcomes.map((one) => `${one.write.id}: ${one.outcome}${'message' in one ? `: ${one.message}` : ''}`);
}

function toMetadata(delivered: boolean): string {
  const mark = { stack: 's', name: 'agent', protect: false, delivered, fields: {} };
  return renderMetadata('', delivered ? { ...mark, id: 'cr_1' } : mark);
}

const createResponseBody = (method: string): JsonObject => ({
  id: 'cr_1',
  acl: [],
  metadata: toMetadata(method === 'PATCH'),
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

  it('replaces the old credential even if the delivery cannot be recorded', async () => {
    const old = createWrite('delete', 'Credential/agent', { resourceId: 'cr_0', dependsOn: [CREATE.id, DELIVER.id] });
    const { result, sent } = await applyWrites([CREATE, DELIVER, old], { answer: () => createResponseBody('POST') });
    expect(formatOutcomes(result)[1]).toContain('the service did not accept metadata');
    expect(sent).toContain('DELETE /credentials/cr_0');
  });

  it.each([
    ['has recorded its delivery', 1, [true]],
    ['records its delivery a moment later', 2, [false, true]],
    ['never records it', 7, [false, false, false, false, false, false, false]],
  ])('that was deleted before its record lists again until the apply that replaced it %s', async (_, looks, marks) => {
    const shown = [...marks];
    let lists = 0;
    const toReplacement = (isDelivered: boolean): JsonObject => {
      const mark = { stack: 's', name: 'agent', protect: false, delivered: isDelivered, fields: {} };
      return { id: 'cr_2', acl: [], metadata: renderMetadata('', isDelivered ? { ...mark, id: 'cr_2' } : mark) };
    };
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

it('rethrows an unexpected error instead of reporting it as an outcome', async () => {
  await expect(applyWrites([REMOVE], { answer: () => new RangeError('bug') })).rejects.toThrow('bug');
});

it('sends an id from a response to no other path', async () => {
  const answer = (method: string): JsonObject => ({
    ...createResponseBody(method),
    id: '../edges/tcp/edgtcp_theirs?$&',
  });
  const { sent } = await applyWrites([CREATE, DELIVER], { answer, list: () => [] });
  expect(sent).toEqual(['POST /credentials', 'GET /credentials']);
});
