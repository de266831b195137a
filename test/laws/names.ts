/** What resources are called: few, so that names are met again, and some at the limits of what a name may be. */
export const NAMES = ['a', 'b', 'c', '0', 'constructor', 'tostring', 'a.b_c-d', 'x'.repeat(63)] as const;
