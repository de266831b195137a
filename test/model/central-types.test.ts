import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const [, BODY = ''] = /\nexport interface Plan \{(\n.*?\n)\}\n/s.exec(readFileSync('src/model/plan.ts', 'utf8')) ?? [];

/** The members, each with the comment above it. Those of an object inside begin further right. */
const MEMBERS = BODY.split(/(?<=\n {2}readonly .*)\n/).flatMap((text) => {
  const [, name] = /\n {2}readonly (\w+)\??:/.exec(`\n${text}`) ?? [];
  return name === undefined ? [] : [{ name, text }];
});

it.each(MEMBERS)('a plan says what $name may not be used for', ({ text }) => {
  const [, comment = ''] = /\/\*\*(.*)\*\//s.exec(text) ?? [];
  expect(comment).toMatch(/\b(?:not|no|none|nothing|never|only)\b/i);
});

it('the members are found, from the first to the last', () => {
  const names = MEMBERS.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['format', 'changes', 'writes', 'violations', 'requests']));
});
