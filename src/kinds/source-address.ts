import { isIP } from 'node:net';

/** What is wrong with a list of addresses for the critical option source-address: comma-separated IPs or CIDR blocks. */
export function checkSourceAddress(text: string): string | undefined {
  const bad = text.split(',').find((part) => !isCidr(part));
  return bad === undefined ? undefined : `contains \`${bad}\`, which is neither an IP address nor a CIDR block`;
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
