/** re2js, loaded when a pattern is checked: its 190 KB take 4 ms of each start. A path, because the package's name leads to this file. */
const load = () => require('../node_modules/re2js/build/index.cjs');

for (const name of ['RE2JS', 'RE2JSException', 'RE2JSSyntaxException', 'RE2Set'])
  Object.defineProperty(module.exports, name, { enumerable: true, get: () => load()[name] });
