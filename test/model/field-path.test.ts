import { expect, test } from 'vitest';
import { formatPath, parsePath, toManifestPath } from '../../src/model/field-path.ts';

test.each([
  [[], ''],
  [['backend', 'backend_id'], 'backend.backend_id'],
  [['policy', 'inbound', 0, 'name'], 'policy.inbound[0].name'],
  [['request_headers', 'add', 'x.y'], 'request_headers.add["x.y"]'],
  [[0, 12, 'x-y', '0'], '[0][12].x-y.0'],
  [['', 'a b', '[0]'], '[""]["a b"]["[0]"]'],
  [['"', 'a\\"b', '\n', '\ud800'], String.raw`["\""]["a\\\"b"]["\n"]["\ud800"]`],
  [['ключ', '🙂', '__proto__'], '["ключ"]["🙂"].__proto__'],
])('formats the path %j as %s, and parses it again', (path, text) => {
  expect(formatPath(path)).toBe(text);
  expect(parsePath(text)).toEqual(path);
});

test.each(['a..b', 'a b', 'a[', '["x]', '.a', 'a["\\q"]', 'a[01]', 'a: 1'])('refuses %s as a path', (text) => {
  expect(parsePath(text)).toBeUndefined();
});

test.each([
  [undefined, []],
  ['hostports[1]', ['spec', 'hostports', 1]],
  ['metadata', ['spec', 'metadata']],
  ['lifecycle.protect', ['lifecycle', 'protect']],
  ['not a path', []],
])('the field %j stands at %j in its manifest', (field, path) => {
  expect(toManifestPath(field)).toEqual(path);
});
