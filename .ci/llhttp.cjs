/**
 * undici's parser: a WebAssembly function that loops. V8 counts what the function skips, so a handful of responses makes V8 optimize it, and a short run
 * cannot end before that is done: 70 ms of a plan of 50 edges. So the parser gets 100 times the budget. Undici compiles it as soon as this file is loaded.
 * Then V8 gets its own budget back, because it discards kept code that was compiled with other settings.
 */
const { setFlagsFromString } = require('node:v8');

setFlagsFromString('--wasm-tiering-budget=1300000000');
process.nextTick(() => setFlagsFromString('--wasm-tiering-budget=13000000'));

module.exports = require('../node_modules/undici/lib/llhttp/llhttp_simd-wasm.js');
