import type { FieldPath } from './state.ts';

/** Formats a path: `backend.backend_id`, `policy.inbound[0].name`, `request_headers.add["x.y"]`. */
export function formatPath(path: FieldPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!PLAIN_STEP.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}

/** Whether two paths are equal, or one of them is the beginning of the other. Symmetrical. */
export function pathsOverlap(left: FieldPath, right: FieldPath): boolean {
  const [shorter, longer] = left.length < right.length ? [left, right] : [right, left];
  return shorter.every((step, index) => step === longer[index]);
}

/** Parses a text that `formatPath` returned. `undefined` for any other text. */
export function parsePath(text: string): FieldPath | undefined {
  const path = Array.from(text.matchAll(STEP), ([, index, quoted, plain = '']) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? plain : parseQuoted(quoted);
  });
  return formatPath(path) === text ? path : undefined;
}

/**
 * Returns the path in a manifest of a field that a change or a service names, such as `ip_restriction.enabled` or
 * `lifecycle.protect`. Without a field: that of the whole manifest.
 */
export function toManifestPath(field: string | undefined): FieldPath {
  const path = field === undefined ? undefined : parsePath(field);
  if (path === undefined || path[0] === 'lifecycle') return path ?? [];
  return ['spec', ...path];
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
