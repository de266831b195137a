import { type Answer, answer, type Question } from './account.ts';

/** What runs beside the page, so that the page never waits: one question after another. */

let last = Promise.resolve();

self.addEventListener('message', ({ data }: MessageEvent<Question>) => {
  last = last.then(async () => {
    const outcome = await answer(data, (told) => self.postMessage({ id: data.id, ...told } satisfies Answer));
    self.postMessage({ id: data.id, tell: 'end', outcome } satisfies Answer);
  });
  // A bug: the page hears of it as of any error that nobody caught.
  last.catch((error: unknown) => self.reportError(error));
});
