import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { listEngineFlags } from '../../src/cli/engine-flags.ts';

it('has only flags that this Node knows: it does not start with others', () => {
  execFileSync(process.execPath, [...listEngineFlags(process.versions.node), '-e', '0'], { stdio: 'pipe' });
});

it('leaves the compilers of a Node alone that has one only, or that nobody has tried', () => {
  const told = (version: string) => listEngineFlags(version).some((flag) => flag.includes('turbofan'));
  expect(['22.19.0', '24.21.0', '26.10.0', '27.0.0'].map(told)).toEqual([false, true, true, false]);
});
