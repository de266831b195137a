import { describe, expect, it } from 'vitest';
import { field, idOf } from '../../src/kinds/field.ts';
import { defineKind } from '../../src/kinds/kind.ts';
import { listPathIdNamesOfKind, toModulePath, toResourcePath } from '../../src/kinds/paths.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { InvariantError } from '../../src/model/errors.ts';

describe('paths', () => {
  it('contain the ids in the path of a resource, parents first', () => {
    expect(listPathIdNamesOfKind(getKind('TCPEdge'))).toEqual(['id']);
    expect(listPathIdNamesOfKind(getKind('HTTPSEdge'))).toEqual(['id']);
    expect(listPathIdNamesOfKind(getKind('HTTPSEdgeRoute'))).toEqual(['edge_id', 'id']);
  });

  it('refuse an attached kind with a field that is neither a module nor an id in its path', () => {
    const kind = getKind('HTTPSEdge');
    const fields = { ...kind.fields, edge_id: field(idOf('edghts'), 'Another id.') };
    expect(() => defineKind({ ...kind, fields })).toThrow('edge_id is neither a module nor an id in the path');
  });

  it('put the id of an owned resource behind the path of its kind', () => {
    expect(toResourcePath(getKind('TCPEdge'), { id: 'edgtcp_1' })).toBe('/edges/tcp/edgtcp_1');
    expect(toModulePath(getKind('TCPEdge'), { id: 'edgtcp_1' }, 'backend')).toBe('/edges/tcp/edgtcp_1/backend');
  });

  it('contain the ids of an attached resource and of its parent', () => {
    const ids = { edge_id: 'edghts_1', id: 'edghtsrt_2' };
    expect(toModulePath(getKind('HTTPSEdgeRoute'), ids, 'circuit_breaker')).toBe(
      '/edges/https/edghts_1/routes/edghtsrt_2/circuit_breaker',
    );
    expect(toModulePath(getKind('HTTPSEdge'), { id: 'edghts_1' }, 'mutual_tls')).toBe(
      '/edges/https/edghts_1/mutual_tls',
    );
  });

  it('keep the placeholder of an id that is known after apply', () => {
    expect(toResourcePath(getKind('TCPEdge'), { id: '{id}' })).toBe('/edges/tcp/{id}');
  });

  it.each([
    ...['', '.', '..', 7, null, 'cr_1/../x?y#z', 'cr_x;touch f', '-rf', '_1', 'cr_1\n', 'cr_$(id)', 'cr_é', '{name}'],
    `cr_${'1'.repeat(200)}`,
  ])('refuse %j as an id', (id) => {
    expect(() => toResourcePath(getKind('TCPEdge'), { id })).toThrow(InvariantError);
  });

  it('refuse an unknown parent', () => {
    expect(() => toResourcePath(getKind('HTTPSEdgeRoute'), { id: 'edghtsrt_2' })).toThrow('edge_id');
  });
});
