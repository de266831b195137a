import type { Kind } from '../kinds/kind.ts';
import { BoundedMap } from '../model/bounded-map.ts';
import { getBehaviour } from './behaviours.ts';
import type { StoredResource } from './store.ts';

/** How a resource is shown, as text. */
interface Shown {
  readonly baseUrl: string;
  readonly text: string;
}

/** Resources whose text is kept. */
const MAX_KEPT = 10_000;

/**
 * Resources as the text that shows them, made once for many answers: what is stored is never changed, only put in the place of something. Not for
 * kinds whose computed fields change with time.
 */
export class ShownTexts {
  readonly #kept = new BoundedMap<StoredResource, Shown>(MAX_KEPT);

  get(
    kind: Kind,
    resource: StoredResource,
    { baseUrl, make }: { readonly baseUrl: string; readonly make: () => string },
  ) {
    if (!isTimeless(kind)) return make();
    const known = this.#kept.get(resource);
    if (known?.baseUrl === baseUrl) return known.text;
    const text = make();
    this.#kept.set(resource, { baseUrl, text });
    return text;
  }
}

/** What does not take the time does not change with it. */
function isTimeless(kind: Kind): boolean {
  return (getBehaviour(kind).compute?.length ?? 0) < 2;
}
