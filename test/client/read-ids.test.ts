import { expect, it } from 'vitest';
import { ReadIds } from '../../src/client/read-ids.ts';

it('knows which ids appeared before a moment, in lists and single resources', () => {
  const ids = new ReadIds();
  ids.note({
    uri: 'https://api.test/edges/tcp',
    tcp_edges: [{ id: 'edgtcp_1' }, { id: 'edgtcp_2' }],
    next_page_uri: null,
  });
  const { count } = ids;
  ids.note({ id: 'edgtcp_3', hostports: null });
  ids.note({ id: 'edgtcp_1', owner: { id: 'usr_1' } });
  ids.note(null);
  expect(['edgtcp_1', 'edgtcp_2', 'edgtcp_3', 'edgtcp_4'].map((id) => ids.isAmong(id, count))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(['edgtcp_3', 'usr_1'].map((id) => ids.isAmong(id, ids.count))).toEqual([true, false]);
});
