import { expect, test } from 'vitest';
import { findRejectedField } from '../../src/apply/check-response.ts';
import { ApiError } from '../../src/model/errors.ts';
import { toWriteId, type Write } from '../../src/model/write.ts';
import { createWrite } from '../report/sample-plans.ts';

function createRejection(said: string, details: Readonly<Record<string, string>>): ApiError {
  const [method, path, status] = ['POST', '/edges/tcp', 400];
  const more = Object.entries(details).map(([name, value]) => `${name}: ${value}`);
  const message = `${method} ${path}: ${status} ERR_1: ${said}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
  return new ApiError(message, { status, code: 'ERR_1', method, path, operationId: undefined, details });
}

const CREATE = createWrite('create', 'TCPEdge/a');

test.each<readonly [Readonly<Record<string, string>>, string | undefined]>([
  [{ field: 'backend.backend_id' }, 'backend.backend_id'],
  [{ field: 'policy.inbound[1].name' }, 'policy.inbound[1].name'],
  [{ field: 'policy.inbound[1].colour' }, 'policy.inbound[1]'],
  [{ field: 'colour' }, undefined],
  [{ field: 'constructor' }, undefined],
  [{ field: 'no path at all[' }, undefined],
  [{ description: 'is too long' }, undefined],
  [{}, undefined],
])('the details %o name the field %s', (details, field) => {
  expect(findRejectedField(CREATE, createRejection('description is too long', details))).toBe(field);
});

test('leaves out the index of a member of a set, because the set was sorted before it was sent', () => {
  expect(findRejectedField(CREATE, createRejection('no', { field: 'hostports[1]' }))).toBe('hostports');
});

test('names the module with its field', () => {
  const write: Write = {
    purpose: 'update',
    method: 'PUT',
    id: toWriteId({ purpose: 'update', address: 'HTTPSEdgeRoute/a', module: 'circuit_breaker' }),
    address: 'HTTPSEdgeRoute/a',
    kind: 'HTTPSEdgeRoute',
    ids: { edge_id: 'edghts_1', id: 'edghtsrt_1' },
    module: 'circuit_breaker',
    body: {},
    dependsOn: [],
    last: false,
    reason: '',
  };
  expect(findRejectedField(write, createRejection('no', { field: 'enabled' }))).toBe('circuit_breaker.enabled');
  expect(findRejectedField(write, createRejection('no', { field: 'circuit_breaker.enabled' }))).toBe(
    'circuit_breaker.enabled',
  );
});

test('names no field for a write that sends none', () => {
  expect(
    findRejectedField(createWrite('delete', 'TCPEdge/a'), createRejection('no', { field: 'description' })),
  ).toBeUndefined();
});
