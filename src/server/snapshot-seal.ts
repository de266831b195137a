import { hashSha256 } from '../model/json.ts';

/**
 * The digests in a snapshot file of `serve`: each line ends with one of the line, of all lines before it, and of the
 * program that wrote them. A file with the right digests is what a server wrote, so its resources need no second check. A
 * digest is no signature: it tells a file that was edited from one that was not.
 */

/** A line with its digest. Both end where the line does, without a line break. */
interface SealedLine {
  readonly text: string;
  readonly digest: string;
}

/** Adds its digest to a line: a JSON object with members. `before`: the digest of the line before; for the first line, the writer. */
export function sealLine(line: string, before: string): SealedLine {
  const digest = hashSha256(`${before}\n${line}`, 'base64url');
  return { text: `${line.slice(0, -1)}${toSeal(digest)}`, digest };
}

/** Adds their digests to the lines that follow a line. */
export function sealLines(lines: readonly string[], before: string): readonly SealedLine[] {
  let last = before;
  return lines.map((line) => {
    const sealed = sealLine(line, last);
    last = sealed.digest;
    return sealed;
  });
}

/** Returns a line without its digest, if it has one. */
export function unsealLine(line: string): string {
  return SEAL.test(line.slice(-SEAL_LENGTH)) ? `${line.slice(0, -SEAL_LENGTH)}}` : line;
}

/** Returns the digest of the last line if a program wrote all lines, and no other. */
export function findSeal(writer: string, lines: readonly string[]): string | undefined {
  const sealed = sealLines(lines.map(unsealLine), writer);
  return sealed.every(({ text }, index) => text === lines[index]) ? sealed.at(-1)?.digest : undefined;
}

function toSeal(digest: string): string {
  return `,"digest":"${digest}"}`;
}

const SEAL_LENGTH = toSeal(hashSha256('', 'base64url')).length;
const SEAL = /^,"digest":"[\w-]{43}"\}$/;
