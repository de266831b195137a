import { type ClockSkew, TOLERATED_SKEW_MS, TRUSTED_SKEW_MS } from '../model/clock.ts';

/** The moments at which a request was sent and its response received, in milliseconds since 1970, by the local clock. */
export interface RequestTimes {
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** The smallest and the largest difference between the clocks that fit a response. */
interface Range {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Times in responses are whole seconds. */
const RESOLUTION_MS = 999;

/**
 * Measures how far the clock of the service is ahead, from the times in its responses: `Date`, and the creation time of
 * what this run creates. The response that took the least time decides, because it leaves the least doubt. A creation
 * time decides over `Date`, which a proxy may have set.
 */
export class ServiceClock {
  #best: Range | undefined;
  #created: Range | undefined;
  #isContradictory = false;
  #areDatesContradictory = false;

  /** Records the `Date` of a response. Ignores a text that is not a time. */
  noteDate(text: string | undefined, times: RequestTimes): void {
    const range = toRange(text, times);
    if (range === undefined) return;
    this.#compare(range);
    if (this.#best !== undefined && !isWithinSkew(range, this.#best)) this.#areDatesContradictory = true;
    if (this.#best === undefined || width(range) < width(this.#best)) this.#best = range;
  }

  /** Records the creation time of a resource that a request has created. */
  noteCreation(text: string | undefined, times: RequestTimes): void {
    const range = toRange(text, times);
    if (range === undefined) return;
    this.#compare(range);
    if (this.#created === undefined || width(range) < width(this.#created)) this.#created = range;
  }

  measure(): ClockSkew {
    const range = this.#created ?? this.#best;
    const isEqual = range === undefined || isWithinSkew(range, { leastMs: 0, mostMs: 0 });
    // The least, so that nothing counts as older than it is, and no certificate begins in the future.
    const skewMs = isEqual ? 0 : range.leastMs;
    return { skewMs, isDoubtful: this.#isContradictory || Math.abs(skewMs) > TRUSTED_SKEW_MS };
  }

  /**
   * Converts a local time to the time that `Date` shows at that moment, or up to the doubt of a response earlier.
   * `undefined`: no response had a valid `Date`, or the responses show different ones.
   */
  findDate(localMs: number): Date | undefined {
    if (this.#best === undefined || this.#areDatesContradictory) return undefined;
    return new Date(localMs + this.#best.leastMs);
  }

  #compare(range: Range): void {
    for (const known of [this.#best, this.#created])
      if (known !== undefined && !isWithinSkew(range, known)) this.#isContradictory = true;
  }
}

function toRange(text: string | undefined, { sentMs, receivedMs }: RequestTimes): Range | undefined {
  const shownMs = Date.parse(text ?? '');
  // A local clock that was set back during the request measures nothing.
  if (Number.isNaN(shownMs) || receivedMs < sentMs) return undefined;
  return { leastMs: shownMs - receivedMs, mostMs: shownMs + RESOLUTION_MS - sentMs };
}

/** Whether two ranges agree to within the tolerance. */
function isWithinSkew(left: Range, right: Range): boolean {
  return left.leastMs - TOLERATED_SKEW_MS <= right.mostMs && right.leastMs - TOLERATED_SKEW_MS <= left.mostMs;
}

function width({ leastMs, mostMs }: Range): number {
  return mostMs - leastMs;
}
