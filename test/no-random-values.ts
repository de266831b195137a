import { registerHooks } from 'node:module';

/** Fails each test that imports fast-check, also through another file. */
registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier !== 'fast-check') return next(specifier, context);
    const from = context.parentURL ?? 'this file';
    throw new Error(`npm test has no random values: ${from} imports fast-check. Move the property to test/laws.`);
  },
});
