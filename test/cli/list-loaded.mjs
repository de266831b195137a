import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * Preloaded into a program: leaves the addresses of the modules that it loads in a file when it ends, and whether
 * Node loaded its `fetch`, or `node:crypto`.
 */
const urls = [];
registerHooks({
  load: (url, context, next) => {
    urls.push(url);
    return next(url, context);
  },
});

/** What `fetch`, `Request` and `Response` are made of: Node loads it when one of them is first used. */
const FETCH = 'NativeModule internal/deps/undici/undici';

const CRYPTO = 'NativeModule crypto';

process.on('exit', () => {
  const own = process.moduleLoadList.filter((name) => name === FETCH || name === CRYPTO);
  writeFileSync(process.env.LOADED_FILE, JSON.stringify([...urls, ...own]));
});
