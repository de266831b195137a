import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Surroundings } from '../stack/surroundings.ts';
import type { Engine } from './engine.ts';
import { hurry, type StartedProcess } from './short-run.ts';

/** Told what the engine cannot know of a run. */
export type Tuning = Required<Pick<Surroundings, 'onReach' | 'onManifests' | 'onDecided' | 'onLetGo'>>;

/**
 * Reading so many bytes of manifests makes so many values for a short time that the space for new ones would grow to more than all that is kept. While
 * they are read it does not, for a twentieth of the time. What comes afterwards keeps more of what it makes, and would take a fifth longer.
 */
const LARGE_BYTES = 250_000;

/** What is done with more than that takes long enough for every compiler. */
const SHORT_BYTES = 8_000;

/** Half of what the space for new values grows to by itself. */
const LARGE_YOUNG_SPACE = 16_000_000;

const USUAL_GROWTH = '--semi-space-growth-factor=2';
const NO_GROWTH = '--semi-space-growth-factor=1';

/** Sets the engine of a process for what its run is about. */
export function createTuning(engine: Engine, process: StartedProcess): Tuning {
  const setGrowth = (value: string): void => engine.set({ usual: USUAL_GROWTH, value });
  let isLarge = false;
  let end: (() => void) | undefined;
  return {
    onReach: () => {
      if (isLarge) setGrowth(USUAL_GROWTH);
      else end ??= hurry(engine, process);
    },
    onManifests: (bytes) => {
      const wasLarge = isLarge;
      isLarge = bytes > SHORT_BYTES;
      if (isLarge && !wasLarge) end?.();
      if (bytes > LARGE_BYTES) setGrowth(NO_GROWTH);
    },
    // What is kept anyway is only copied by a larger space, which takes as much memory as the plan of ten thousand resources.
    onDecided: () => {
      const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
      if (young !== undefined && young.space_size >= LARGE_YOUNG_SPACE) setGrowth(NO_GROWTH);
    },
    onLetGo: createCollect(),
  };
}

/** Below that, a run takes hardly more memory than what it has loaded. */
const LARGE_HEAP = 64_000_000;
/** The heap grew by so much since it was last collected: the cost stays in proportion, however often somebody lets go of something. */
const GROWTH = 1.4;

/**
 * Collects garbage, when there may be enough of it. Left to itself, the engine lets a heap grow to several times of what it keeps; asked to collect more often it
 * also does so while nothing can be let go of, which takes a quarter more CPU time.
 */
function createCollect(): () => void {
  let kept = 0;
  return () => {
    const { used_heap_size: before } = getHeapStatistics();
    if (before < Math.max(LARGE_HEAP, kept * GROWTH)) return;
    // The engine shows its collector to a context that is made after it is told to.
    setFlagsFromString('--expose-gc');
    const collectAll: () => void = runInNewContext('gc');
    setFlagsFromString('--no-expose-gc');
    collectAll();
    kept = getHeapStatistics().used_heap_size;
  };
}
