import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

it('the examples of the library have only syntax that Node 22 parses', async () => {
  const page = await readFile('docs/reference/library.md', 'utf8');
  const programs = Array.from(page.matchAll(/```ts\n(.*?)```/gs), ([, program = '']) => program);
  expect(programs.length).toBeGreaterThan(3);
  // `using` is the only syntax that Node 24 parses and Node 22 does not.
  expect(programs.filter((program) => /^\s*(?:await )?using\s/m.test(program))).toEqual([]);
});
