import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPath, parsePath } from '../../src/model/field-path.ts';

test('renders a path as in code', () => {
  expect(formatPath(['backend', 'backend_id'])).toBe('backend.backend_id');
  expect(formatPath(['policy', 'inbound', 0, 'name'])).toBe('policy.inbound[0].name');
  expect(formatPath(['request_headers', 'add', 'x.y'])).toBe('request_headers.add["x.y"]');
});

test('finds a path again in its text', () => {
  const step = fc.oneof(fc.nat(), fc.string({ unit: 'binary' }), fc.constantFrom('a.b', '[0]', '"', '0', '', 'a\\"b'));
  fc.assert(
    fc.property(fc.array(step), (path) => {
      expect(parsePath(formatPath(path))).toEqual(path);
    }),
  );
});

test.each(['a..b', 'a b', 'a[', '["x]', '.a', 'a["\\q"]', 'a[01]', 'a: 1'])('refuses %s as a path', (text) => {
  expect(parsePath(text)).toBeUndefined();
});
