import { expect, test } from 'vitest';
import { getRejectionFacts } from '../../src/apply/rejected-field.ts';
import { ApiError } from '../../src/model/errors.ts';
import { toWriteId, type Write } from '../../src/model/write.ts';
import { makeWrite } from '../report/sample-plans.ts';

function refuse(said: string, details: Readonly<Record<string, string>> = {}, status = 400): ApiError {
  const [method, path] = ['POST', '/edges/tcp'];
  const more = Object.entries(details).map(([name, value]) => `${name}: ${value}`);
  const message = `${method} ${path}: ${status} ERR_1: ${said}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
  return new ApiError(message, { status, code: 'ERR_1', method, path, operationId: undefined, details });
}

const CREATE = makeWrite('create', 'TCPEdge/a');

test.each<readonly [string, Readonly<Record<string, string>>, string | undefined]>([
  ['no', { field: 'backend.backend_id' }, 'backend.backend_id'],
  ['no', { field: 'policy.inbound[1].name' }, 'policy.inbound[1].name'],
  ['no', { path: '/spec/policy/inbound/1/name' }, 'policy.inbound[1].name'],
  ['no', { pointer: '#/policy/inbound/1' }, 'policy.inbound[1]'],
  ['no', { param: 'policy.inbound.1.name' }, 'policy.inbound[1].name'],
  ['no', { description: 'is too long' }, 'description'],
  ['description is too long', {}, 'description'],
  ['the value of `description` is too long', {}, 'description'],
  ['invalid value in body.backend.backend_id, see the documentation', {}, 'backend.backend_id'],
  ['there is no such backend_id', {}, undefined],
  ['the description was fine', {}, undefined],
  ['no capacity', { operation_id: 'op_1' }, undefined],
  ['no', { id: 'description' }, undefined],
  ['no', { field: 'colour' }, undefined],
  ['no', { field: 'constructor' }, undefined],
])('a refusal "%s" with the details %o names the field %s', (said, details, field) => {
  expect(getRejectionFacts(CREATE, refuse(said, details)).field).toBe(field);
});

test('the number of a member of a set is left out: it was sorted before it was sent', () => {
  expect(getRejectionFacts(CREATE, refuse('no', { field: 'hostports[1]' })).field).toBe('hostports');
});

test('the field of a module that is set alone stands inside of that module', () => {
  const [address, module] = ['HTTPSEdgeRoute/a', 'circuit_breaker'] as const;
  const write: Write = {
    purpose: 'update',
    method: 'PUT',
    id: toWriteId({ purpose: 'update', address, module }),
    address,
    kind: 'HTTPSEdgeRoute',
    ids: { edge_id: 'edghts_1', id: 'edghtsrt_1' },
    module,
    body: {},
    dependsOn: [],
    last: false,
    reason: '',
  };
  expect(getRejectionFacts(write, refuse('no', { field: 'enabled' })).field).toBe('circuit_breaker.enabled');
  expect(getRejectionFacts(write, refuse('no', { field: 'circuit_breaker.enabled' })).field).toBe(
    'circuit_breaker.enabled',
  );
});

test('a write that sends no field has none that could be wrong', () => {
  expect(
    getRejectionFacts(makeWrite('delete', 'TCPEdge/a'), refuse('no', { field: 'description' })),
  ).not.toHaveProperty('field');
});

test.each([
  [400, false],
  [401, true],
  [403, true],
])('the status %i is kept, and says whether it is about permission: %s', (status, isAuthentication) => {
  expect(getRejectionFacts(CREATE, refuse('no', {}, status))).toEqual({ status, isAuthentication });
});
