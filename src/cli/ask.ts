import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Context } from './context.ts';

/** Where a person is asked. */
export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  readonly onInterrupt: Context['onInterrupt'];
}

/** Asks at a terminal. Leaving the question (Ctrl-C, Ctrl-D, SIGTERM) gives the empty answer. */
export function createAsk({ input, output, onInterrupt }: Terminal): Context['ask'] {
  return async (question) => {
    if (input.isTTY !== true) return undefined;
    const prompt = question.slice(question.lastIndexOf('\n') + 1);
    output.write(question.slice(0, question.length - prompt.length));
    const { promise: closed, resolve: setClosed } = Promise.withResolvers<void>();
    let answer: string | undefined;
    const reader = createInterface({ input, output }).once('close', setClosed);
    const stopListening = onInterrupt(() => reader.close());
    reader.question(prompt, (text) => {
      answer = text;
      reader.close();
    });
    await closed;
    stopListening();
    if (answer === undefined) output.write('\n');
    return answer ?? '';
  };
}
