import { type Profiler, Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

/** Counts what the engine does of our code: the same on every machine, whatever else runs there. */
export class StepCounter {
  readonly #session = new Session();

  /** Blocks are counted of functions that are compiled after this. */
  async start(): Promise<void> {
    // Of a function whose code is thrown away for a while, the engine forgets how often it ran.
    setFlagsFromString('--no-flush-bytecode');
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  stop(): void {
    this.#session.disconnect();
  }

  /** How often each block of the sources ran, by the function and the place of the block. */
  async count(task: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
    await this.#session.post('Profiler.takePreciseCoverage');
    await task();
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const blocks = result
      .filter(({ url }) => url.includes('/src/'))
      .flatMap(({ url, functions }) => functions.flatMap((one) => listBlocks(url, one)));
    return new Map(blocks);
  }
}

function listBlocks(url: string, { functionName, ranges }: Profiler.FunctionCoverage): readonly [string, number][] {
  const file = url.slice(url.indexOf('/src/') + 1);
  return ranges.map(({ startOffset, endOffset, count }) => [
    `${file} ${functionName} ${startOffset}-${endOffset}`,
    count,
  ]);
}
