import './load-broken-source.ts';

/** The program with the broken source that a variable names. */
await import('../src/cli/main.ts');
