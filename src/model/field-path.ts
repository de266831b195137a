import type { FieldPath } from './state.ts';

/** The text of a path: `backend.backend_id`, `policy.inbound[0].name`, `request_headers.add["x.y"]`. */
export function toPathText(path: FieldPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!PLAIN_STEP.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}

/** The path that a text stands for; `undefined` when it is not one that `toPathText` gives. */
export function parsePath(text: string): FieldPath | undefined {
  const path = Array.from(text.matchAll(STEP), ([, index, quoted, plain = '']) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? plain : parseQuoted(quoted);
  });
  return toPathText(path) === text ? path : undefined;
}

const PLAIN_STEP = /^[\w-]+$/;
const STEP = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([\w-]+)/g;

function parseQuoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch (error) {
    if (error instanceof SyntaxError) return quoted;
    throw error;
  }
}
