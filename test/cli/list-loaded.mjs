import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Preloaded into a program: leaves the addresses of the modules that it loads in a file when it ends. */
const urls = [];
registerHooks({
  load: (url, context, next) => {
    urls.push(url);
    return next(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.LOADED_FILE, JSON.stringify(urls)));
