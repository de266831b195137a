import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe.each([
  ['Plan', 'src/model/plan.ts', ['format', 'changes', 'writes', 'violations', 'requests']],
  ['Change', 'src/model/change.ts', ['address', 'differences', 'place']],
  ['Write', 'src/model/write.ts', ['id', 'purpose', 'last']],
  ['LiveResource', 'src/model/state.ts', ['kind', 'mark', 'computed']],
])('%s', (type, file, some) => {
  const found = new RegExp(`\\nexport interface ${type} .*?\\{(\\n.*?\\n)\\}\\n`, 's').exec(readFileSync(file, 'utf8'));
  /** The members, each with the comment above it. Those of an object inside begin further right. */
  const members = (found?.[1] ?? '').split(/(?<=\n {2}readonly .*)\n/).flatMap((text) => {
    const [, name] = /\n {2}readonly (\w+)\??:/.exec(`\n${text}`) ?? [];
    return name === undefined ? [] : [{ name, text }];
  });

  it.each(members)('says what $name may not be used for', ({ text }) => {
    const [, comment = ''] = /\/\*\*(.*)\*\//s.exec(text) ?? [];
    expect(comment).toMatch(/\b(?:not|no|none|nothing|never|only)\b/i);
  });

  it('has its members, from the first to the last', () => {
    expect(members.map(({ name }) => name)).toEqual(expect.arrayContaining([...some]));
  });
});
