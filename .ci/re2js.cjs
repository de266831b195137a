/** re2js, which is loaded when a pattern is checked: its 190 KB take 7 ms of each start. The path, because the name leads here. */
const load = () => require('../node_modules/re2js/build/index.cjs');

module.exports = {
  get RE2JS() {
    return load().RE2JS;
  },
  get RE2JSException() {
    return load().RE2JSException;
  },
  get RE2JSSyntaxException() {
    return load().RE2JSSyntaxException;
  },
  get RE2Set() {
    return load().RE2Set;
  },
};
