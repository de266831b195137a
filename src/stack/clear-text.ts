import type { TransportSettings } from './surroundings.ts';

/** Warns of requests that carry the API key where others can read it: unencrypted, to another machine. `undefined`: there are none. */
export function findClearTextWarning(baseUrl: string, proxy: TransportSettings['proxy']): string | undefined {
  const url = URL.parse(baseUrl);
  if (url?.protocol !== 'http:') return undefined;
  if (!isThisMachine(url))
    return `Warning: requests to ${url.origin} are not encrypted, and each carries the API key. Use an https: URL.`;
  const via = proxy.http === undefined ? null : URL.parse(proxy.http);
  if (via === null || isThisMachine(via) || isExcepted(url, proxy.except)) return undefined;
  return `Warning: requests to ${url.origin} go through the proxy ${via.host} unencrypted, and each carries the API key. Except the host with NO_PROXY=${url.hostname}.`;
}

function isThisMachine({ hostname }: URL): boolean {
  const name = hostname.replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || /^127(?:\.\d+){3}$|^0\.0\.0\.0$|^\[::1?\]$/.test(name);
}

/** Whether a URL is reached without a proxy, as the transport decides it. */
function isExcepted(url: URL, except = ''): boolean {
  const name = toName(url.hostname);
  const port = url.port === '' ? '80' : url.port;
  return except
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, host = entry, onlyPort = port] = /^(\[.+\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? [];
      if (onlyPort !== port) return false;
      const suffix = toName(host.replace(/^\*?\./, ''));
      return host === '*' || (!host.startsWith('*') && name === suffix) || name.endsWith(`.${suffix}`);
    });
}

function toName(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
}
