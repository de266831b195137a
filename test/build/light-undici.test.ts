import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { expect, it } from 'vitest';
import { createLightUndici } from '../../.ci/light-undici.ts';

const FILE = 'node_modules/undici/lib/dispatcher/client-h1.js';

/** The code of undici's parser as it is in the bundle. */
function transform(code: string): string {
  const { transform: edit } = createLightUndici();
  if (typeof edit !== 'function') throw new Error('the plugin transforms nothing');
  // The function uses nothing of the build.
  const changed: unknown = Reflect.apply(edit, undefined, [code, `/project/${FILE}`, {}]);
  if (typeof changed !== 'string') throw new Error('the file is left as it is');
  return changed;
}

it('the parser is compiled with a larger budget, and V8 gets its own back', () => {
  const code = transform(readFileSync(FILE, 'utf8'));
  expect(() => new Script(`(function () {${code}\n})`)).not.toThrow();
  const budgets = [...code.matchAll(/--wasm-tiering-budget=(\d+)/g)].map(([, budget]) => Number(budget));
  const own = /default: --wasm-tiering-budget=(\d+)/.exec(
    execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' }),
  );
  expect(budgets).toEqual([Number(own?.[1]) * 100, Number(own?.[1])]);
});

it('a parser of another form is not left as it is', () => {
  expect(() => transform('module.exports = {}')).toThrow('has another form');
});
