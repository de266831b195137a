import { expect, test } from 'vitest';
import { createPlanFileContent } from '../../src/kinds/plan-file-content.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { ApiError, TimeoutError } from '../../src/model/errors.ts';
import {
  renderApplyJson,
  renderFailureJson,
  renderPlanJson,
  renderValidationJson,
} from '../../src/report/machine/json.ts';
import { PLAN_SCHEMA } from '../../src/schemas/plan.ts';
import { createPlan, createWrite, EVERYTHING } from './sample-plans.ts';
import { createAppliedOutcome, createApplyResult, MIXED } from './sample-results.ts';

const ERROR: Diagnostic = { code: 'no-stack', severity: 'error', message: 'no stack' };
const WARNING: Diagnostic = { code: 'lockout', severity: 'warning', message: 'careful' };

test('contains the whole plan, as in its schema', () => {
  const text = renderPlanJson(EVERYTHING);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(createPlanFileContent(EVERYTHING))));
  expect(PLAN_SCHEMA.safeParse(JSON.parse(text)).error).toBeUndefined();
});

test('is equal in bytes for equal plans', () => {
  const { stack, ...rest } = EVERYTHING;
  expect(renderPlanJson({ ...rest, stack })).toBe(renderPlanJson(EVERYTHING));
});

test('refers to the writes of its plan in the result of an apply', () => {
  const document = JSON.parse(renderApplyJson(EVERYTHING, MIXED));
  expect(document).toMatchObject({
    format: 1,
    command: 'apply',
    ok: false,
    interrupted: true,
    totals: { applied: 3, failed: 2, skipped: 3 },
    diagnostics: [],
    tokens: MIXED.tokens,
    plan: { stack: 'production' },
  });
  expect(document.outcomes[0]).toEqual({
    write: 'create WeightedBackend/pool',
    address: 'WeightedBackend/pool',
    outcome: 'applied',
    id: 'bkdwd_2abc',
  });
  expect(document.outcomes[7]).toEqual({
    write: 'update IPRestriction/api',
    address: 'IPRestriction/api',
    outcome: 'skipped',
    message: 'interrupted',
    waitedFor: [],
  });
  expect(document).not.toHaveProperty('error');
});

test('is ok after an apply only if all of it was done and every token delivered', () => {
  const isOk = (...parameters: Parameters<typeof renderApplyJson>) => JSON.parse(renderApplyJson(...parameters)).ok;
  const done = [createAppliedOutcome(createWrite('create', 'Credential/a'), 'cr_2a')];
  const tokens = [{ address: 'Credential/a', deliveredTo: 'x', rescued: true }];
  expect(isOk(createPlan(), createApplyResult(done))).toBe(true);
  expect(isOk(createPlan(), createApplyResult(done, { tokens }))).toBe(false);
  expect(isOk(createPlan(), createApplyResult(done), { diagnostics: [ERROR] })).toBe(false);
  expect(isOk(createPlan(), createApplyResult(done), { error: new Error('sink') })).toBe(false);
});

test('is a destroy after an apply of a plan of destroy, unless it is set otherwise', () => {
  const command = (...parameters: Parameters<typeof renderApplyJson>) =>
    JSON.parse(renderApplyJson(...parameters)).command;
  expect(command(createPlan({ mode: 'destroy' }), createApplyResult([]))).toBe('destroy');
  expect(command(createPlan(), createApplyResult([]), { command: 'apply' })).toBe('apply');
});

test('is a complete document after a failure, with whatever is known', () => {
  const error = new ApiError('403 FORBIDDEN: no', {
    status: 403,
    code: 'FORBIDDEN',
    method: 'GET',
    path: '/edges/tcp?limit=100',
    operationId: 'op_1',
    details: {},
  });
  expect(JSON.parse(renderFailureJson({ command: 'plan', error }))).toEqual({
    format: 1,
    command: 'plan',
    ok: false,
    diagnostics: [],
    error: {
      name: 'ApiError',
      message: '403 FORBIDDEN: no',
      status: 403,
      code: 'FORBIDDEN',
      method: 'GET',
      path: '/edges/tcp?limit=100',
      operationId: 'op_1',
      details: {},
    },
  });
  expect(JSON.parse(renderFailureJson({}))).toEqual({ format: 1, command: null, ok: false, diagnostics: [] });
});

test('contains an error of any sort, a sentence, diagnostics or a refused plan after a failure', () => {
  const error = (failure: Parameters<typeof renderFailureJson>[0]) => JSON.parse(renderFailureJson(failure)).error;
  expect(error({ error: new TimeoutError('30 s') })).toEqual({ name: 'TimeoutError', message: '30 s' });
  expect(error({ error: { message: 'a', remedy: 'b' } })).toEqual({ message: 'a', remedy: 'b' });
  expect(JSON.parse(renderFailureJson({ diagnostics: [ERROR], plan: EVERYTHING }))).toMatchObject({
    diagnostics: [ERROR],
    totals: { delete: 2 },
    plan: { stack: 'production' },
  });
});

test('shows how much a validation read and whether it is valid', () => {
  const counts = { files: 2, resources: 3 };
  expect(JSON.parse(renderValidationJson({ ...counts, diagnostics: [WARNING] }))).toEqual({
    format: 1,
    command: 'validate',
    ok: true,
    ...counts,
    diagnostics: [WARNING],
  });
  expect(JSON.parse(renderValidationJson({ ...counts, diagnostics: [ERROR] })).ok).toBe(false);
});
