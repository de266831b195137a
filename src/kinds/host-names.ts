/** Host names in one form, so that all spellings of a name are equal. */

/** Letters, digits, hyphens, underscores and dots. */
const PLAIN = /^[\w.-]*$/;

/** An ASCII character that no host name contains. `URL` would end or decode the name there. */
const IN_NO_HOST_NAME = /[^\w.\-\u0080-\u{10ffff}]/u;

/**
 * Returns a host name in lower case, with the A-label of each label that is not ASCII. `undefined` if a label has none.
 * Source: https://url.spec.whatwg.org/#concept-domain-to-ascii
 */
export function toAsciiHostName(name: string): string | undefined {
  if (PLAIN.test(name)) return name.toLowerCase();
  if (IN_NO_HOST_NAME.test(name)) return undefined;
  const labels = name.split('.').map(toAsciiLabel);
  return labels.every((label) => label !== undefined) ? labels.join('.') : undefined;
}

function toAsciiLabel(label: string): string | undefined {
  // With a letter as its last label, no name is an IPv4 address, which `URL` would complete.
  return PLAIN.test(label) ? label.toLowerCase() : URL.parse(`http://${label}.a`)?.hostname.slice(0, -'.a'.length);
}
