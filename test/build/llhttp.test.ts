import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const LAZY = readFileSync('node_modules/undici/lib/dispatcher/client-h1.js', 'utf8');
const BUDGETS = Array.from(
  readFileSync('.ci/llhttp.cjs', 'utf8').matchAll(/--wasm-tiering-budget=(\d+)/g),
  ([, budget]) => Number(budget),
);

it('undici compiles its parser as soon as it has loaded it', () => {
  expect(LAZY).toContain("new WebAssembly.Module(require('../llhttp/llhttp_simd-wasm.js'))");
});

it('V8 gets the budget back that is its own', () => {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const own = Number(/default: --wasm-tiering-budget=(\d+)/.exec(options)?.[1]);
  expect(BUDGETS).toEqual([100 * own, own]);
});
