import type { Engine, Setting } from './engine.ts';

/** What says whether the engine may be set, and how. */
export type StartedProcess = Pick<NodeJS.Process, 'arch' | 'env' | 'versions'> & {
  readonly execArgv: readonly string[];
};

/**
 * Most runs are over before what compilers make pays: code that is interpreted is enough for them. They make little garbage, too, which one thread
 * collects faster than several, and which a larger space for new values leaves alone.
 */
const HURRIED: readonly Setting[] = [
  { usual: '--sparkplug', value: '--no-sparkplug' },
  { usual: '--turbofan', value: '--no-turbofan' },
  { usual: '--parallel-scavenge', value: '--no-parallel-scavenge' },
  { usual: '--maglev', value: '--no-maglev' },
  { usual: '--semi-space-growth-factor=2', value: '--semi-space-growth-factor=4' },
];

/** Node 22 has other usual settings, and refuses compiled code that was kept after these were changed for a time. */
const FIRST_NODE = 24;

/** Where the engine has all of its compilers. */
const ARCHITECTURES = ['x64', 'arm64'];

/** Whoever sets any of it knows better. */
const GIVEN = /jitless|lite.mode|sparkplug|maglev|turbofan|opt|scavenge|semi.space|single.threaded/;

/** What goes on for longer is no short run. */
const SHORT_MS = 250;

/** Sets the engine for a run that may soon be over. Gives what ends that; after a while it ends by itself. */
export function hurry(engine: Engine, process: StartedProcess): () => void {
  const settings = listSettings(process);
  for (const setting of settings) engine.set(setting);
  const end = (): void => {
    clearTimeout(timer);
    for (const { usual } of settings) engine.set({ usual, value: usual });
  };
  const timer = setTimeout(end, SHORT_MS).unref();
  return end;
}

function listSettings({ arch, env, execArgv, versions }: StartedProcess): readonly Setting[] {
  const isGiven = [...execArgv, env['NODE_OPTIONS'] ?? ''].some((words) => GIVEN.test(words));
  const isKnown = ARCHITECTURES.includes(arch) && Number.parseInt(versions.node, 10) >= FIRST_NODE;
  return isKnown && !isGiven ? HURRIED : [];
}
