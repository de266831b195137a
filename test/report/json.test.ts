import { expect, test } from 'vitest';
import { createPlanFileContent } from '../../src/kinds/plan-file-content.ts';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import { ApiError, TimeoutError } from '../../src/model/errors.ts';
import { PLAN_FORMAT } from '../../src/model/plan.ts';
import type { Validation } from '../../src/model/validation.ts';
import { renderApplyJson, renderJsonReport, renderPlanJson } from '../../src/report/machine/json.ts';
import type { Failure } from '../../src/report/report.ts';
import { PLAN_SCHEMA } from '../../src/schemas/plan.ts';
import { createPlan, createWrite, EVERYTHING } from './sample-plans.ts';
import { createAppliedOutcome, createApplyResult, MIXED } from './sample-results.ts';

const ERROR: Diagnostic = { code: 'no-stack', severity: 'error', message: 'no stack' };
const WARNING: Diagnostic = { code: 'lockout', severity: 'warning', message: 'careful' };

const renderFailure = (failure: Failure) => JSON.parse(renderJsonReport({ about: 'failure', failure }));

const renderValidation = (validation: Validation) =>
  JSON.parse(renderJsonReport({ about: 'validation', command: 'validate', validation }));

test('contains the whole plan, as in its schema', () => {
  const document = JSON.parse(renderPlanJson(EVERYTHING, { folder: 'live/production' }));
  const { plan, ...entry } = document.stacks[0];
  expect(document).toMatchObject({ format: PLAN_FORMAT, command: 'plan', ok: false });
  expect(entry).toEqual({ stack: 'production', folder: 'live/production', ok: false });
  expect(plan).toEqual(JSON.parse(JSON.stringify(createPlanFileContent(EVERYTHING))));
  expect(PLAN_SCHEMA.safeParse(plan).error).toBeUndefined();
});

test('is ok for a plan without errors, of which no safety rule refuses anything without consent', () => {
  const isOk = (...parameters: Parameters<typeof renderPlanJson>) => JSON.parse(renderPlanJson(...parameters)).ok;
  const violation = { rule: 'protect', message: 'it is protected', remedy: 'no', addresses: [] } as const;
  expect(isOk(createPlan())).toBe(true);
  expect(isOk(createPlan({ diagnostics: [WARNING] }))).toBe(true);
  expect(isOk(createPlan({ diagnostics: [ERROR] }))).toBe(false);
  expect(isOk(createPlan({ violations: [violation] }))).toBe(false);
  expect(isOk(createPlan({ violations: [violation] }), { blocking: [] })).toBe(true);
});

test('is equal in bytes for equal plans', () => {
  const { stack, ...rest } = EVERYTHING;
  expect(renderPlanJson({ ...rest, stack })).toBe(renderPlanJson(EVERYTHING));
});

test('refers to the writes of its plan in the result of an apply', () => {
  const document = JSON.parse(renderApplyJson(EVERYTHING, MIXED));
  expect(document).toMatchObject({ format: PLAN_FORMAT, command: 'apply', ok: false });
  const [{ result, ...entry }] = document.stacks;
  expect(entry).toMatchObject({ stack: 'production', ok: false, plan: { stack: 'production' } });
  expect(result).toMatchObject({
    interrupted: true,
    totals: { applied: 3, failed: 2, skipped: 3 },
    diagnostics: [],
    tokens: MIXED.tokens,
  });
  expect(result.outcomes[0]).toEqual({
    write: 'create WeightedBackend/pool',
    address: 'WeightedBackend/pool',
    outcome: 'applied',
    id: 'bkdwd_2abc',
  });
  expect(result.outcomes[7]).toEqual({
    write: 'update IPRestriction/api',
    address: 'IPRestriction/api',
    outcome: 'skipped',
    message: 'interrupted',
    waitedFor: [],
  });
  expect(result).not.toHaveProperty('error');
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

test('is a destroy after an apply of a plan of destroy', () => {
  const command = (...parameters: Parameters<typeof renderApplyJson>) =>
    JSON.parse(renderApplyJson(...parameters)).command;
  expect(command(createPlan({ mode: 'destroy' }), createApplyResult([]))).toBe('destroy');
  expect(command(createPlan(), createApplyResult([]))).toBe('apply');
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
  const failure = {
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
  };
  const known = { format: PLAN_FORMAT, command: 'plan', ok: false };
  expect(renderFailure({ command: 'plan', error })).toEqual({ ...known, stacks: [], failure });
  expect(renderFailure({ command: 'plan', error, stack: 'shop' })).toEqual({
    ...known,
    stacks: [{ stack: 'shop', ok: false, failure }],
  });
  expect(renderFailure({})).toEqual({ ...known, command: null, stacks: [], failure: { diagnostics: [] } });
});

test('contains an error of any sort, a sentence or diagnostics after a failure', () => {
  const error = (failure: Failure) => renderFailure(failure).failure.error;
  expect(error({ error: new TimeoutError('30 s') })).toEqual({ name: 'TimeoutError', message: '30 s' });
  expect(error({ error: { message: 'a', remedy: 'b' } })).toEqual({ message: 'a', remedy: 'b' });
  expect(renderFailure({ diagnostics: [ERROR] }).failure.diagnostics).toEqual([ERROR]);
});

test('shows how much a validation read and whether it is valid', () => {
  const counts = { files: 2, resources: 3 };
  expect(renderValidation({ ...counts, stack: 'shop', diagnostics: [WARNING] })).toEqual({
    format: PLAN_FORMAT,
    command: 'validate',
    ok: true,
    stacks: [{ stack: 'shop', ok: true, validation: { ...counts, diagnostics: [WARNING] } }],
  });
  expect(renderValidation({ ...counts, diagnostics: [ERROR] }).ok).toBe(false);
});
