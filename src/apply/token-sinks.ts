import { resolve } from 'node:path';
import type { SinkSettings, TokenSettings } from '../model/stack.ts';
import { createCommandSink } from './command-sink.ts';
import { createDirectorySink, createRescueSink } from './directory-sink.ts';
import type { SinkContext, TokenSink } from './token-sink.ts';

/** The sinks of a run. */
export interface TokenSinks {
  /** The sink of a credential; `undefined`: none is configured. */
  readonly find: (name: string) => TokenSink | undefined;
  /** Where a token goes when its sink failed. */
  readonly rescue: TokenSink;
}

/** Makes sinks from settings. Nothing is run or written yet. */
export function createTokenSinks(settings: TokenSettings, context: SinkContext): TokenSinks {
  const sinks = new Map<SinkSettings, TokenSink>();
  const find = (name: string): TokenSink | undefined => {
    const own = Object.hasOwn(settings.credentials, name) ? settings.credentials[name] : undefined;
    const chosen = own ?? settings.default;
    if (chosen === undefined) return undefined;
    const sink = sinks.get(chosen) ?? createSink(chosen, context);
    sinks.set(chosen, sink);
    return sink;
  };
  return { find, rescue: createRescueSink(context.temporaryFolder) };
}

function createSink(settings: SinkSettings, context: SinkContext): TokenSink {
  if ('command' in settings) return createCommandSink(settings, context);
  return createDirectorySink(resolve(context.cwd, settings.directory), settings.directory);
}
