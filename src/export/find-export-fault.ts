import type { CloserChecks } from '../kinds/closer-checks.ts';
import { fillUnknown } from '../kinds/fill-unknown.ts';
import type { Kind } from '../kinds/kind.ts';
import { normalizeSpec } from '../kinds/normalize.ts';
import { validateManifests } from '../manifest/validate.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isSameJson } from '../model/json.ts';
import type { LiveResource } from '../model/state.ts';

/** The texts that a resource would be exported as, with the `Stack` that it would belong to. */
export interface ExportTexts {
  readonly text: string;
  readonly stack: string;
  readonly closerChecks: CloserChecks | undefined;
}

/** Reads a document again. Gives the reason if it cannot be planned or differs from what is live; `undefined`: neither. */
export function findExportFault(
  { kind, live }: { readonly kind: Kind; readonly live: LiveResource },
  { text, stack, closerChecks }: ExportTexts,
): string | undefined {
  const sources = [stack, text].map((each, index) => ({ file: `${index}.yaml`, bytes: Buffer.from(each) }));
  const { state, diagnostics } = validateManifests(sources, {
    env: {},
    ...(closerChecks !== undefined && { closerChecks }),
  });
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error !== undefined) return `no manifest can state it: ${withoutAddress(error)}`;
  const [read] = state?.resources.values() ?? [];
  if (read === undefined) return NOT_TO_THE_LETTER;
  const normal = normalizeSpec(kind, read.spec);
  return isSameJson(normal, fillUnknown(kind, live.spec, normal)) ? undefined : NOT_TO_THE_LETTER;
}

const NOT_TO_THE_LETTER = 'no manifest can state it exactly';

/** The message does not name the address, because no document has it. */
function withoutAddress({ message, address }: Diagnostic): string {
  const start = `${address}: `;
  return message.startsWith(start) ? message.slice(start.length) : message;
}
