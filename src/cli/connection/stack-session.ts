import { createStack, type Stack, type StackParts } from '../../stack/stack.ts';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import { listenForInterrupts } from './interrupts.ts';
import { createServiceNotices, type TellBy, tellOfService } from './notices.ts';

/** A stack for the length of one command. */
export interface StackSession {
  readonly stack: Stack;
  readonly tellBy: TellBy;
  /** Aborted by the first request to stop. Reading ends at once; writes that are under way finish. */
  readonly signal: AbortSignal;
}

/** Opens a stack, runs the task, and closes the stack however the task ends. */
export async function withStack<T>(
  parts: Pick<StackParts, 'state' | 'diagnostics' | 'settings' | 'tokens'>,
  context: Context,
  task: (session: StackSession) => Promise<T>,
): Promise<T> {
  const { settings } = parts;
  const { signal, stopListening } = listenForInterrupts(context);
  const { tellBy, watch, end, ...notices } = createServiceNotices(settings, context);
  const onReached: StackParts['onReached'] = ({ warning }) => tellOfService(settings, warning, context);
  const stack = createStack({ ...parts, version: VERSION, watch, notices, onReached }, context);
  try {
    return await task({ stack, tellBy, signal });
  } finally {
    try {
      end();
      await stack.close();
    } finally {
      stopListening();
    }
  }
}
