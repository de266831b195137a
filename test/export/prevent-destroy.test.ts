import { describe, expect, it } from 'vitest';
import { findPreventDestroy } from '../../src/export/prevent-destroy.ts';

const LIFECYCLE = 'lifecycle {\n    prevent_destroy = true\n  }';

function findPreventDestroyIn(text: string, name = 'main.tf') {
  const { resources, unreadable } = findPreventDestroy([{ name, text }]);
  return unreadable.length > 0 ? unreadable : [...resources];
}

describe('prevent_destroy', () => {
  it.each<readonly [string, string]>([
    ['in a block', `resource "a_b" "c" {\n  ${LIFECYCLE}\n}`],
    ['on one line', 'resource "a_b" "c" { lifecycle { prevent_destroy = true } }'],
    ['without quotes', `resource a_b c {\n  ${LIFECYCLE}\n}`],
    ['with CRLF', `resource "a_b" "c" {\r\n  lifecycle {\r\n    prevent_destroy = true\r\n  }\r\n}\r\n`],
    [
      'beside other arguments',
      'resource "a_b" "c" {\n lifecycle {\n ignore_changes = [\n a,\n b\n ]\n prevent_destroy=true # yes\n }\n}',
    ],
    ['after a map', `resource "a_b" "c" {\n  labels = {\n    x = "y"\n  }\n  ${LIFECYCLE}\n}`],
    [
      'after a text with braces',
      `resource "a_b" "c" {\n  x = "}{ \\" \${f({a = "}"})} $\${ %{ if x } } %{ endif }"\n  ${LIFECYCLE}\n}`,
    ],
    ['after a heredoc', `resource "a_b" "c" {\n  x = <<-EOT\n  } " /*\n  EOT\n  ${LIFECYCLE}\n}`],
    ['after comments', `# {\n// {\n/* { \n " */ resource "a_b" "c" {\n  ${LIFECYCLE}\n}`],
    ['as an expression', 'resource "a_b" "c" {\n  lifecycle {\n    prevent_destroy = var.protect\n  }\n}'],
  ])('is found %s', (_, text) => {
    expect(findPreventDestroyIn(text)).toEqual(['a_b.c']);
  });

  it.each<readonly [string, string]>([
    ['false', 'resource "a_b" "c" {\n  lifecycle {\n    prevent_destroy = false\n  }\n}'],
    ['in a comment', 'resource "a_b" "c" {\n  lifecycle {\n    # prevent_destroy = true\n  }\n}'],
    ['in a text', 'resource "a_b" "c" {\n  x = "lifecycle { prevent_destroy = true }"\n}'],
    ['in a heredoc', `resource "a_b" "c" {\n  x = <<EOT\n${LIFECYCLE}\nEOT\n}`],
    ['of a data source', `data "a_b" "c" {\n  ${LIFECYCLE}\n}`],
    ['in another block', 'resource "a_b" "c" {\n  backend {\n    prevent_destroy = true\n  }\n}'],
    ['in a map', 'resource "a_b" "c" {\n  lifecycle = {\n    prevent_destroy = true\n  }\n}'],
    ['deeper', `resource "a_b" "c" {\n  backend {\n    ${LIFECYCLE}\n  }\n}`],
  ])('is not found if it is %s', (_, text) => {
    expect(findPreventDestroyIn(text)).toEqual([]);
  });

  it.each([
    ['a block without an end', 'resource "a_b" "c" {'],
    ['a brace too many', '}'],
    ['a text without an end', 'resource "a_b" "c {\n}\n'],
    ['a comment without an end', '/* resource'],
    ['a heredoc without an end', 'x = <<EOT\nEO\n'],
  ])('is uncertain in a file with %s', (_, text) => {
    expect(findPreventDestroyIn(text)).toEqual(['main.tf']);
  });

  it('is found in the JSON syntax', () => {
    const lifecycle = { prevent_destroy: true };
    expect(findPreventDestroyIn(JSON.stringify({ resource: { a_b: { c: { lifecycle } } } }), 'main.tf.json')).toEqual([
      'a_b.c',
    ]);
    expect(
      findPreventDestroyIn(JSON.stringify({ resource: [{ a_b: [{ c: [{ lifecycle: [lifecycle] }] }] }] }), 'x.tf.json'),
    ).toEqual(['a_b.c']);
    expect(
      findPreventDestroyIn(JSON.stringify({ resource: { a_b: { c: { lifecycle: {} } } } }), 'main.tf.json'),
    ).toEqual([]);
    expect(findPreventDestroyIn('{', 'main.tf.json')).toEqual(['main.tf.json']);
  });

  it('has the value of an override file', () => {
    const write = (value: boolean) => `resource "a_b" "c" {\n  lifecycle {\n    prevent_destroy = ${value}\n  }\n}`;
    const files = [
      { name: 'a_override.tf', text: write(false) },
      { name: 'z.tf', text: write(true) },
    ];
    expect(findPreventDestroy(files).resources.size).toBe(0);
    expect(findPreventDestroy([{ name: 'a.tf', text: write(false) }, ...files.slice(1)]).resources.size).toBe(1);
  });

  it('is found in time that grows with the size of the file', () => {
    for (const part of ['/*', '"', '${', '<<A\n', '{', 'resource "a" "b" {\n'])
      expect(findPreventDestroyIn(part.repeat(100_001)), part).toEqual(['main.tf']);
  });
});
