import assert from 'node:assert';
import { EventEmitter } from 'node:events';
import { join, sep } from 'node:path';
import { Script } from 'node:vm';
import { expect, it } from 'vitest';
import { renderLazy } from '../../.ci/bundle-plugins.ts';

/** What the bundle has instead of a module of Node's, and the modules that it has loaded. */
function evaluate(id: string): { readonly exports: object; readonly loaded: readonly string[] } {
  const module = { exports: {} };
  const loaded: string[] = [];
  const require = (name: string) => {
    loaded.push(name);
    return process.getBuiltinModule(name);
  };
  const run: (module: object, load: typeof require) => void = new Script(
    `(function (module, require) {${renderLazy(id)}\n})`,
  ).runInThisContext();
  run(module, require);
  return { exports: module.exports, loaded };
}

it('a module is loaded when something of it is first used, and not asked again for that', () => {
  const { exports, loaded } = evaluate('node:path');
  expect(Reflect.get(exports, '__esModule')).toBeUndefined();
  expect(loaded).toEqual([]);
  expect(Reflect.get(exports, 'join')).toBe(join);
  expect(Reflect.get(exports, 'join')).toBe(join);
  expect(loaded).toEqual(['node:path']);
  expect(Reflect.get(exports, 'sep')).toBe(sep);
  expect([Reflect.has(exports, 'resolve'), Reflect.has(exports, 'nothing')]).toEqual([true, false]);
  expect(Reflect.get(exports, 'nothing')).toBeUndefined();
});

it('what is made of it, as the bundle does for an import, loads it too', () => {
  const { exports, loaded } = evaluate('node:path');
  const copy: object = Object.create(Object.getPrototypeOf(exports), { default: { value: exports } });
  expect(loaded).toEqual([]);
  expect(Reflect.get(copy, 'join')).toBe(join);
});

it('an assertion that holds loads nothing, and one that does not fails as ever', () => {
  const { exports, loaded } = evaluate('node:assert');
  if (typeof exports !== 'function') throw new Error('an assertion is a function');
  Reflect.apply(exports, undefined, [true]);
  expect(loaded).toEqual([]);
  expect(() => Reflect.apply(exports, undefined, [0, 'zero'])).toThrow(
    new assert.AssertionError({ message: 'zero', actual: 0, expected: true, operator: '==' }),
  );
  expect(Reflect.get(exports, 'deepEqual')).toBe(assert.deepEqual);
});

it('a module that is a class is there at once, and so is the process', () => {
  expect(evaluate('node:events').exports).toBe(EventEmitter);
  const { exports, loaded } = evaluate('node:process');
  expect(exports).toBe(process);
  expect(loaded).toEqual([]);
});
