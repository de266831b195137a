import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEngine } from '../../src/cli/engine.ts';
import { type KeptCode, parseKeptCode, renderKeptCode } from '../../src/cli/kept-code.ts';
import { createParts, KEPT_MS } from '../../src/cli/load-parts.ts';

describe('compiled code as bytes', () => {
  const kept: KeptCode = {
    atMs: 12,
    code: new Map([
      ['a.cjs', Buffer.from('code of a')],
      ['b.cjs', Buffer.alloc(40, 'b')],
    ]),
  };
  const bytes = Buffer.from(renderKeptCode(kept));

  it('reads back as it was', () => {
    const { atMs, code } = parseKeptCode(bytes) ?? { atMs: 0, code: new Map() };
    expect(atMs).toBe(12);
    expect([...code].map(([name, part]) => [name, Buffer.from(part).toString()])).toEqual([
      ['a.cjs', 'code of a'],
      ['b.cjs', 'b'.repeat(40)],
    ]);
  });

  it('is nothing when it is not whole', () => {
    for (let length = 0; length < bytes.length; length += 1)
      expect(parseKeptCode(bytes.subarray(0, length))).toBeUndefined();
    expect(parseKeptCode(Buffer.concat([bytes, Buffer.alloc(8)]))).toBeUndefined();
  });

  it('is nothing when it is something else', () => {
    for (const text of ['', '\n', '0 0 a\n', '1 8 a.cjs 16\n12345678', '{"a": 1}\n', 'x'.repeat(200_000)])
      expect(parseKeptCode(Buffer.from(text))?.code.size ?? 0, text).toBe(0);
  });
});

describe('the files of a program', () => {
  let folder = '';
  let keptFile = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-parts-'));
    mkdirSync(join(folder, 'kept'));
    keptFile = join(folder, 'kept', 'plan');
    writeFileSync(join(folder, 'main.cjs'), `const b = require('./b.cjs');\nexports.say = () => b.say('main');\n`);
    const body = Array.from({ length: 200 }, (_, index) => `if (who === '${index}') return 'no ${index}';`).join('\n');
    writeFileSync(
      join(folder, 'b.cjs'),
      `let count = 0;\nmodule.exports = { say(who) {\n${body}\nreturn who + ++count; } };\n`,
    );
  });

  afterEach(() => {
    vi.useRealTimers();
    rmSync(folder, { recursive: true });
  });

  const open = (file: string | undefined = keptFile) =>
    createParts({ process, folder, engine: createEngine(process), keptFile: file });

  /** A run: loads the files, calls what they export when it is told to, and ends. */
  function run({ calls = true }: { readonly calls?: boolean } = {}): void {
    const { load, keep } = open();
    const main = load('main.cjs');
    if (calls) expect(main).toMatchObject({ say: expect.any(Function) });
    if (calls) expect(say(main)).toBe('main1');
    keep();
  }

  /** What the function of a file gives. */
  function say(main: unknown): unknown {
    const { say: call } = Object(main);
    return call();
  }

  const readKept = () => parseKeptCode(readFileSync(keptFile))?.code;

  it('are loaded once each, and require each other', () => {
    const { load } = open(undefined);
    expect(load('main.cjs')).toBe(load('main.cjs'));
    expect(say(load('main.cjs'))).toBe('main1');
    expect(say(load('main.cjs'))).toBe('main2');
  });

  it('keep what the engine compiled, for the user alone, with the functions that were called', () => {
    run({ calls: false });
    const before = readKept()?.get('b.cjs')?.length ?? 0;
    rmSync(keptFile);
    run();
    expect([...(readKept()?.keys() ?? [])]).toEqual(['main.cjs', 'b.cjs']);
    // Two hundred comparisons that were compiled when the function was called.
    expect(readKept()?.get('b.cjs')?.length).toBeGreaterThan(before + 4000);
    expect(statSync(keptFile).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'kept'))).toEqual(['plan']);
  });

  it('keep it once, until a day is over', () => {
    run();
    const first = readFileSync(keptFile);
    run();
    expect(readFileSync(keptFile).equals(first)).toBe(true);
    vi.useFakeTimers({ now: Date.now() + KEPT_MS, toFake: ['Date'] });
    run();
    expect(readFileSync(keptFile).equals(first)).toBe(false);
  });

  it('are taken as they were kept while the engine has other settings, and so are modules of Node', () => {
    run();
    const first = readFileSync(keptFile);
    const code = `exports.say = (who) => require('node:path').basename(who) + require('./b.cjs').say('');`;
    writeFileSync(join(folder, 'c.cjs'), code);
    for (const _ of ['compiles c.cjs', 'takes it']) {
      const engine = createEngine(process);
      const { load, keep } = createParts({ process, folder, engine, keptFile });
      load('main.cjs');
      engine.set({ usual: '--semi-space-growth-factor=2', value: '--semi-space-growth-factor=3' });
      const c = load('c.cjs');
      expect(Object(c).say('/a/file')).toBe('file1');
      keep();
      engine.set({ usual: '--semi-space-growth-factor=2', value: '--semi-space-growth-factor=2' });
    }
    const second = readFileSync(keptFile);
    expect(second.equals(first)).toBe(false);
    run();
    expect(readFileSync(keptFile).equals(second)).toBe(true);
  });

  it('keep it again when a run needs one file more, with those that it does not need', () => {
    run();
    writeFileSync(join(folder, 'c.cjs'), 'exports.c = 1;');
    const { load, keep } = open();
    load('c.cjs');
    keep();
    expect([...(readKept()?.keys() ?? [])]).toEqual(['main.cjs', 'b.cjs', 'c.cjs']);
    run();
    expect(readKept()?.has('c.cjs')).toBe(true);
  });

  it('take nothing that another engine compiled, and replace it', () => {
    const code = new Map(['main.cjs', 'b.cjs'].map((name) => [name, Buffer.alloc(100, 1)]));
    writeFileSync(keptFile, renderKeptCode({ atMs: Date.now(), code }));
    run();
    expect(readKept()?.size).toBe(2);
    expect([...(readKept()?.values() ?? [])].map(([first]) => first)).not.toContain(1);
  });

  it('work the same when what is kept is damaged, or is no file', () => {
    run();
    writeFileSync(keptFile, readFileSync(keptFile).subarray(0, -8));
    run();
    expect(readKept()?.size).toBe(2);
    rmSync(keptFile);
    mkdirSync(keptFile);
    run();
    expect(readdirSync(keptFile)).toEqual([]);
  });

  it('work the same when nothing can be kept', () => {
    rmSync(join(folder, 'kept'), { recursive: true });
    run();
    expect(existsSync(keptFile)).toBe(false);
    mkdirSync(join(folder, 'kept'));
    mkdirSync(`${keptFile}.${process.pid}`);
    run();
    expect(existsSync(keptFile)).toBe(false);
  });

  it('are kept by the next run after one that was killed while it wrote', () => {
    writeFileSync(`${keptFile}.${process.pid}`, 'half of it');
    run();
    expect(readdirSync(join(folder, 'kept'))).toEqual([]);
    run();
    expect(readdirSync(join(folder, 'kept'))).toEqual(['plan']);
  });

  it('say in a stack trace where they are', () => {
    const text = 'exports.fail = () => { throw new Error("here"); };';
    writeFileSync(join(folder, 'fail.cjs'), text);
    const { fail } = Object(open().load('fail.cjs'));
    expect(() => fail()).toThrow(
      expect.objectContaining({ stack: expect.stringContaining(`${folder}/fail.cjs:1:${text.indexOf('new') + 1}`) }),
    );
  });
});
