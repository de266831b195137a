import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';

const NAMES = process.env['EDGEWISE_KINDS']?.split(' ');

/** The kinds that laws are tried on one by one: all, or those that EDGEWISE_KINDS names. Random stacks have all of them. */
export const SUBJECTS = MANIFEST_KINDS.filter(({ name }) => NAMES?.includes(name) ?? true);
