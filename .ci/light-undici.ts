import type { Plugin } from 'rolldown';

/**
 * What undici does for long runs or for what is never asked of it, and what a short run should not pay for. The code of the package is else
 * as it is.
 */
export function createLightUndici(): Plugin {
  const left = new Set(Object.keys(EDITS));
  return {
    name: 'light-undici',
    resolveId: (id, importer) => (id === 'node:http' && isOfUndici(importer) ? HTTP : undefined),
    load: (id) => (id === HTTP ? HTTP_CODE : undefined),
    transform: (code, id) => {
      const file = Object.keys(EDITS).find((name) => id.replaceAll('\\', '/').endsWith(`/node_modules/${name}`));
      const edit = file === undefined ? undefined : EDITS[file];
      if (file === undefined || edit === undefined) return undefined;
      left.delete(file);
      return replaceOnce(code, edit, file);
    },
    buildEnd: () => {
      if (left.size > 0) throw new Error(`Nothing loads ${[...left].join(', ')} any more: see .ci/light-undici.ts`);
    },
  };
}

function isOfUndici(importer: string | undefined): boolean {
  return importer?.replaceAll('\\', '/').includes('/node_modules/undici/') === true;
}

const HTTP = '\0undici-http';

/**
 * undici asks Node's HTTP for the limit of a head, which is the one that Node has, and whether the body of a request is itself a message of
 * Node's server, which none is here.
 */
const HTTP_CODE = 'exports.maxHeaderSize = 16_384; exports.IncomingMessage = class IncomingMessage {};';

interface Edit {
  readonly from: string;
  readonly to: string;
}

/**
 * The parser is one WebAssembly function of 33 KB that loops. V8 counts what it jumps over, so a handful of responses has it optimize the
 * function. That takes longer than a short run, which does not end before it is done. So the parser gets a hundred times the budget. The
 * second value is V8's own since Node 22: code that is loaded later would not fit the compile cache under another.
 */
const EDITS: Readonly<Record<string, Edit>> = {
  'undici/lib/dispatcher/client-h1.js': {
    from: "mod = new WebAssembly.Module(llhttpWasmData || require('../llhttp/llhttp-wasm.js'))",
    to: `const { setFlagsFromString } = process.getBuiltinModule('node:v8')
    setFlagsFromString('--wasm-tiering-budget=1300000000')
    try {
      mod = new WebAssembly.Module(llhttpWasmData || require('../llhttp/llhttp-wasm.js'))
    } finally {
      setFlagsFromString('--wasm-tiering-budget=13000000')
    }`,
  },
};

function replaceOnce(code: string, { from, to }: Edit, file: string): string {
  const parts = code.split(from);
  if (parts.length !== 2) throw new Error(`${file} has another form: see .ci/light-undici.ts`);
  return parts.join(to);
}
