const EMBEDDED = 'embedded:';

/** Whether a base URL means the bundled server inside of the process. */
export function isEmbedded(baseUrl: string): boolean {
  return baseUrl.startsWith(EMBEDDED);
}

/** The file in which the bundled server keeps its data; empty: it forgets them. */
export function toEmbeddedFile(baseUrl: string): string {
  return baseUrl.slice(EMBEDDED.length);
}
