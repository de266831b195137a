import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';

const NAMES = process.env['EDGEWISE_KINDS']?.split(' ');

/** The kinds that laws test one by one: all, or those in EDGEWISE_KINDS. Random stacks have all of them. */
export const SUBJECTS = MANIFEST_KINDS.filter(({ name }) => NAMES?.includes(name) ?? true);
