import { realpathSync } from 'node:fs';
import { type ReadBudget, readInput } from '../files/read-input.ts';
import { createSourceContent, type SourceContent } from './source.ts';

/** The manifest files of a run, while its plans are made. Each is read once. */
export interface SourceFiles {
  /** Reads a regular file. Each call counts against the budget. Throws like `readInput`. */
  readonly read: (path: string, limit: SourceLimit) => SourceContent;
  /** What is read afterwards is read anew. */
  readonly forget: () => void;
}

interface SourceLimit {
  readonly maxBytes?: number;
  readonly budget?: ReadBudget | undefined;
}

export function createSourceFiles(): SourceFiles {
  const known = new Map<string, SourceContent>();
  return {
    read: (path, { maxBytes, budget }) => {
      const real = realpathSync.native(path);
      const found = known.get(real);
      if (found !== undefined) {
        budget?.spend(found.bytes.byteLength);
        return found;
      }
      const content = createSourceContent(readInput(real, { ...(maxBytes !== undefined && { maxBytes }), budget }));
      known.set(real, content);
      return content;
    },
    forget: () => known.clear(),
  };
}
