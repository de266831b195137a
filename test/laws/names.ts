/** Names of resources: few, so that they repeat, and some at the limits of valid names. */
export const NAMES = ['a', 'b', 'c', '0', 'constructor', 'tostring', 'a.b_c-d', 'x'.repeat(63)] as const;
