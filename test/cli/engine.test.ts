import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEngine, type Engine } from '../../src/cli/engine.ts';
import { hurry } from '../../src/cli/short-run.ts';
import { createTuning } from '../../src/cli/tune-engine.ts';
import { runCommand } from './fake-context.ts';

/** An engine that leaves what it is told in a list, in place of that of this process. */
function createFake(): { readonly engine: Engine; readonly told: string[] } {
  const told: string[] = [];
  const v8 = { setFlagsFromString: (word: string) => told.push(word) };
  // The only module that it asks for.
  return { engine: createEngine({ getBuiltinModule: (() => v8) as never }), told };
}

const STARTED = { arch: 'x64', env: {}, execArgv: [], versions: { ...process.versions, node: '26.0.0' } } as const;

const setting = { usual: '--sparkplug', value: '--no-sparkplug' };

beforeEach(() => vi.useFakeTimers());

afterEach(() => {
  vi.useRealTimers();
});

describe('the engine', () => {
  it('is told what is set, once, and what is usual when that is set again', () => {
    const { engine, told } = createFake();
    engine.set({ usual: setting.usual, value: setting.usual });
    expect(told).toEqual([]);
    engine.set(setting);
    engine.set(setting);
    engine.set({ ...setting, value: setting.usual });
    expect(told).toEqual(['--no-sparkplug', '--sparkplug']);
  });

  it('has its usual settings for a time, and those that were set afterwards, whatever happens', () => {
    const { engine, told } = createFake();
    expect(engine.asUsual(() => told.length)).toBe(0);
    engine.set(setting);
    expect(engine.asUsual(() => [...told])).toEqual(['--no-sparkplug', '--sparkplug']);
    const fail = () => engine.asUsual(() => expect.fail('as it should'));
    expect(fail).toThrow('as it should');
    expect(told.at(-1)).toBe('--no-sparkplug');
    engine.set({ ...setting, value: setting.usual });
    told.length = 0;
    engine.asUsual(() => undefined);
    expect(told).toEqual([]);
  });
});

describe('a short run', () => {
  const SET = [
    '--no-sparkplug',
    '--no-turbofan',
    '--no-parallel-scavenge',
    '--no-maglev',
    '--semi-space-growth-factor=4',
  ];
  const USUAL = ['--sparkplug', '--turbofan', '--parallel-scavenge', '--maglev', '--semi-space-growth-factor=2'];

  it('asks no compiler, until it is no short one any more', () => {
    const { engine, told } = createFake();
    hurry(engine, STARTED);
    expect(told).toEqual(expect.arrayContaining(SET));
    told.length = 0;
    vi.advanceTimersByTime(249);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(told).toEqual(expect.arrayContaining(USUAL));
    engine.asUsual(() => expect(told).toHaveLength(USUAL.length));
  });

  it('leaves alone what an engine does not have, and what somebody has set', () => {
    const tell = (started: Partial<Parameters<typeof hurry>[1]>): readonly string[] => {
      const { engine, told } = createFake();
      hurry(engine, { ...STARTED, ...started })();
      return told;
    };
    expect(tell({})).toEqual([...SET, ...USUAL]);
    expect(tell({ versions: { ...process.versions, node: '22.19.0' } })).toEqual([]);
    expect(tell({ arch: 's390x' })).toEqual([]);
    expect(tell({ execArgv: ['--jitless'] })).toEqual([]);
    expect(tell({ env: { NODE_OPTIONS: '--max-semi-space-size=4' } })).toEqual([]);
    expect(tell({ env: { NODE_OPTIONS: '--max-old-space-size=4096' } })).not.toEqual([]);
  });

  it('changes what this engine has as its usual settings', () => {
    const { engine, told } = createFake();
    hurry(engine, { ...STARTED, versions: process.versions })();
    const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    for (const usual of told.slice(told.length / 2)) expect(options).toContain(`default: ${usual}\n`);
  });
});

describe('a run', () => {
  it('is known to reach a service before its command is loaded, unless it asks for help', async () => {
    vi.useRealTimers();
    const reached: string[] = [];
    const run = (line: string) => runCommand(line.split(' '), { cwd: '.', onReach: () => reached.push(line) });
    // What is wrong with a command line is found when its command is loaded, and before it does anything.
    const lines = ['plan --what', 'plan --help', 'apply -h', 'destroy --what', 'drift --what', 'validate --what', '-V'];
    for (const line of lines) await run(line);
    expect(reached).toEqual(['plan --what', 'destroy --what', 'drift --what']);
  });

  it('with many manifests gives every compiler its work, and lets the space for new values grow when they are read', () => {
    const { engine, told } = createFake();
    const { onReach, onManifests } = createTuning(engine, STARTED);
    onReach();
    expect(told).toContain('--no-sparkplug');
    onManifests(1_000_000);
    expect(told).toContain('--sparkplug');
    expect(told.at(-1)).toBe('--semi-space-growth-factor=1');
    onReach();
    expect(told.at(-1)).toBe('--semi-space-growth-factor=2');
    onManifests(100);
    onReach();
    expect(told.filter((word) => word === '--no-sparkplug')).toHaveLength(1);
  });
});
