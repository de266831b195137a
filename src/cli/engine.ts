/** Settings of the engine that the process changes for a time. */
export interface Engine {
  /** Gives the engine another setting than its usual one; the usual one takes it back. */
  readonly set: (setting: Setting) => void;
  /** Acts while the engine has its usual settings: it takes compiled code only from an engine that has the same. */
  readonly asUsual: <T>(act: () => T) => T;
}

/** A setting, in the words of the engine's command line. */
export interface Setting {
  /** What every Node has that is supported: what the setting is known by. */
  readonly usual: string;
  readonly value: string;
}

/** The engine of a process. It is not asked for anything before something is set. */
export function createEngine({ getBuiltinModule }: Pick<NodeJS.Process, 'getBuiltinModule'>): Engine {
  const changed = new Map<string, string>();
  const tell = (words: Iterable<string>): void => {
    const { setFlagsFromString } = getBuiltinModule('node:v8');
    for (const word of words) setFlagsFromString(word);
  };
  return {
    set: ({ usual, value }) => {
      if (value === (changed.get(usual) ?? usual)) return;
      if (value === usual) changed.delete(usual);
      else changed.set(usual, value);
      tell([value]);
    },
    asUsual: (act) => {
      if (changed.size === 0) return act();
      tell(changed.keys());
      try {
        return act();
      } finally {
        tell(changed.values());
      }
    },
  };
}
