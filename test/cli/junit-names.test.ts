import { expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

it('has a JUnit case with a name of its own for each mistake of one kind in one resource, and for equal ones', async () => {
  const mistaken = toEdge('a', 20001).replace('hostports:', 'red: 1\n  blue: 2\n  hostports:');
  const manifest = `${STACK}${mistaken}`;
  const { edgewise } = await createWorkspace({
    'one/edgewise.yaml': manifest,
    'two/edgewise.yaml': manifest.replace('name: test', 'name: other'),
  });
  for (const [line, cases] of [
    ['validate one', 2],
    ['validate -R .', 4],
  ] as const) {
    const { stdout } = await edgewise(`${line} --format junit`);
    const names = Array.from(stdout.matchAll(/<testcase (classname="[^"]*" name="[^"]*")/g), ([, name]) => name);
    const failing = stdout.match(/<failure /g) ?? [];
    expect(failing.length, stdout).toBeGreaterThanOrEqual(cases);
    expect(new Set(names).size, stdout).toBe(names.length);
  }
});
