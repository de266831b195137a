import { isIP } from 'node:net';

/** IP addresses and CIDR blocks in one form, so that all spellings of a block are equal. */

/** The lengths of addresses in bits. */
const WIDTH = { 4: 32, 6: 128 } as const;

/** A block of addresses. An address is a block of one. */
interface CidrBlock {
  readonly family: keyof typeof WIDTH;
  /** The address as a number, with the bits after the prefix. */
  readonly address: bigint;
  /** The length of the prefix in bits. */
  readonly bits: number;
}

/** Returns the block with the host bits cleared, in the form of RFC 5952. Text that is no block is unchanged. */
export function normalizeCidr(text: string): string {
  const block = parseCidr(text);
  if (block === undefined) return text;
  const { family, bits } = block;
  const first = formatIpAddress(family, clearHostBits(block));
  return bits === WIDTH[family] ? first : `${first}/${bits}`;
}

/** Whether a block is written with an address that is not its first one, such as `10.1.2.3/8`. */
export function hasHostBits(text: string): boolean {
  const block = parseCidr(text);
  return block !== undefined && block.address !== clearHostBits(block);
}

export function isCidr(text: string): boolean {
  return parseCidr(text) !== undefined;
}

/** Returns the IP version of which the blocks together cover every address. `undefined` if they cover none. */
export function findCoveredVersion(texts: readonly string[]): CidrBlock['family'] | undefined {
  const blocks = texts.flatMap((text) => parseCidr(text) ?? []).map(toUnmapped);
  return ([4, 6] as const).find((version) => {
    let next = 0n; // the first address that no block covers so far
    for (const { first, end } of listRanges(blocks, version)) if (first <= next && end > next) next = end;
    return next === 1n << BigInt(WIDTH[version]);
  });
}

/** The ranges of the blocks of one version, by their first address. `end`: the address after the last one. */
function listRanges(blocks: readonly CidrBlock[], version: CidrBlock['family']) {
  const ranges = blocks.flatMap((block) => {
    const first = clearHostBits(block);
    return block.family === version ? [{ first, end: first + (1n << BigInt(WIDTH[version] - block.bits)) }] : [];
  });
  return ranges.sort((left, right) => (left.first < right.first ? -1 : 1));
}

function parseCidr(text: string): CidrBlock | undefined {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if ((family !== 4 && family !== 6) || more.length > 0) return undefined;
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= WIDTH[family])) return undefined;
  const number = family === 4 ? parseIpv4(address) : parseIpv6(address);
  return number === undefined ? undefined : { family, address: number, bits: Number(bits ?? WIDTH[family]) };
}

/** A block of IPv4 addresses that is written as IPv6, such as `::ffff:10.0.0.0/104`, is one of IPv4. */
function toUnmapped(block: CidrBlock): CidrBlock {
  const { family, address, bits } = block;
  const isMapped = family === 6 && bits >= 96 && address >> 32n === 0xffffn;
  return isMapped ? { family: 4, address: address & 0xffffffffn, bits: bits - 96 } : block;
}

function clearHostBits({ family, address, bits }: CidrBlock): bigint {
  const hostBits = BigInt(WIDTH[family] - bits);
  return (address >> hostBits) << hostBits;
}

function parseIpv4(address: string): bigint {
  return address.split('.').reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

/** `undefined` for an address with a zone, such as `fe80::1%eth0`. */
function parseIpv6(address: string): bigint | undefined {
  const name = URL.parse(`http://[${address}]`)?.hostname;
  if (name === undefined) return undefined;
  const [head = '', tail] = name.slice(1, -1).split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const missing = tail === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  const groups = [...(before ?? []), ...Array.from({ length: missing }, () => '0'), ...(after ?? [])];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function formatIpAddress(family: CidrBlock['family'], address: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((address >> BigInt(112 - 16 * index)) & 65_535n).toString(16),
  );
  return URL.parse(`http://[${groups.join(':')}]`)?.hostname.slice(1, -1) ?? '';
}
