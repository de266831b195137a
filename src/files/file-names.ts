import { basename } from 'node:path';

/** The names that edgewise gives to files beside the one that it writes. */

/** Returns the name of a temporary file of a file with this name. `id`: a UUID. */
export function toTemporaryName(base: string, id: string): string {
  return `.${base}.${id}`;
}

const TEMPORARY_NAME = /^\.(.+)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the name from which the name of a temporary file was made. `undefined` for other files. */
export function findTemporaryBase(name: string): string | undefined {
  return TEMPORARY_NAME.exec(name)?.[1];
}

/** Whether a path has the name of a temporary file of edgewise, next to a file whose name ends with `ending`. */
export function isTemporaryName(path: string, ending: string): boolean {
  return findTemporaryBase(basename(path))?.endsWith(ending) === true;
}

/** The name, or the path, under which a former file is set aside. */
export function toAsideName(name: string, number: number): string {
  return `${name}.${number}`;
}
