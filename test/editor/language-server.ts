import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';

/** The YAML language server that editors run, over stdio. */
export interface LanguageServer {
  /** Returns the diagnostics of a text as `line:column message`, both from 1. `file`: its name; absent: a new file. */
  diagnose(text: string, file?: string): Promise<readonly string[]>;
  /** Returns the proposals at a position, by label, with their explanations. */
  complete(text: string, place: TextPlace): Promise<ReadonlyMap<string, string>>;
  /** Returns the hover text of a position, in Markdown. */
  hover(text: string, place: TextPlace): Promise<string>;
  close(): Promise<void>;
}

/** A position in a text; both numbers start at 0. */
export interface TextPlace {
  readonly line: number;
  readonly character: number;
}

const PROGRAM = 'node_modules/yaml-language-server/bin/yaml-language-server';
const SETTINGS = { validate: true, hover: true, completion: true, schemaStore: { enable: false } };

/** Starts the server. Documents are in `folder`, and name their schema in a comment. */
export async function startLanguageServer(folder: string): Promise<LanguageServer> {
  const child = spawn(process.execPath, [PROGRAM, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const connection = createConnection(child);
  const capabilities = {
    workspace: { configuration: true },
    textDocument: { hover: { contentFormat: ['markdown'] }, completion: {}, publishDiagnostics: {} },
  };
  await connection.ask('initialize', { processId: null, rootUri: pathToFileURL(folder).href, capabilities });
  connection.tell('initialized', {});
  let documents = 0;
  const open = (text: string, file?: string): string => {
    documents += 1;
    const uri = pathToFileURL(join(folder, file ?? `document-${documents}.yaml`)).href;
    connection.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
    return uri;
  };
  const askAt = (method: string, text: string, position: TextPlace): Promise<Json> =>
    connection.ask(method, { textDocument: { uri: open(text) }, position: { ...position } });
  return {
    diagnose: async (text, file) => toProblems(await connection.diagnosticsOf(open(text, file))),
    complete: async (text, place) => toCompletions(await askAt('textDocument/completion', text, place)),
    hover: async (text, place) => toMarkdown(await askAt('textDocument/hover', text, place)),
    close: async () => {
      await connection.ask('shutdown', null);
      connection.tell('exit', null);
    },
  };
}

function toProblems(diagnostics: readonly JsonObject[]): readonly string[] {
  return diagnostics.map(({ range, message }) => {
    const { line, character } = toObject(toObject(range)['start']);
    return `${Number(line) + 1}:${Number(character) + 1} ${message}`;
  });
}

function toCompletions(answer: Json): ReadonlyMap<string, string> {
  const { items } = toObject(answer);
  const offers = isJsonArray(items) ? items.map(toObject) : [];
  return new Map(
    offers.map(({ label, documentation }) => [String(label), toMarkdown({ contents: documentation ?? '' })]),
  );
}

function toMarkdown(answer: Json): string {
  const { contents } = toObject(answer);
  return isJsonObject(contents) ? String(contents['value']) : String(contents ?? '');
}

function toObject(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** JSON-RPC over the pipes of a process, as in the Language Server Protocol. */
interface Connection {
  tell(method: string, params: Json): void;
  ask(method: string, params: Json): Promise<Json>;
  /** Returns the diagnostics of a document when they arrive. */
  diagnosticsOf(uri: string): Promise<readonly JsonObject[]>;
}

function createConnection(child: ChildProcessByStdio<Writable, Readable, null>): Connection {
  const answers = new Map<number, PromiseWithResolvers<Json>>();
  const diagnostics = new Map<string, PromiseWithResolvers<readonly JsonObject[]>>();
  const expectDiagnostics = (uri: string) => {
    const expected = diagnostics.get(uri) ?? Promise.withResolvers<readonly JsonObject[]>();
    diagnostics.set(uri, expected);
    return expected;
  };
  const send = (message: JsonObject): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  readMessages(child.stdout, ({ id, method, params, result, error }) => {
    if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics: found } = toObject(params);
      expectDiagnostics(String(uri)).resolve(isJsonArray(found) ? found.map(toObject) : []);
    } else if (method !== undefined && id !== undefined) {
      send({ id, result: method === 'workspace/configuration' ? toSettings(params) : null });
    } else if (id !== undefined) {
      const answer = answers.get(Number(id));
      if (error === undefined) answer?.resolve(result ?? null);
      else answer?.reject(new Error(JSON.stringify(error)));
    }
  });
  return {
    tell: (method, params) => send({ method, params }),
    ask: (method, params) => {
      const answer = Promise.withResolvers<Json>();
      const id = answers.size + 1;
      answers.set(id, answer);
      send({ id, method, params });
      return answer.promise;
    },
    diagnosticsOf: (uri) => expectDiagnostics(uri).promise,
  };
}

/** Returns a setting for each requested section. */
function toSettings(params: Json | undefined): readonly Json[] {
  const { items } = toObject(params);
  const sections = isJsonArray(items) ? items.map((item) => toObject(item)['section']) : [];
  return sections.map((section) => (section === 'yaml' ? SETTINGS : {}));
}

function readMessages(stream: Readable, onMessage: (message: JsonObject) => void): void {
  let bytes = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/i.exec(bytes.toString('latin1', 0, Math.max(end, 0)))?.[1]);
      if (end < 0 || bytes.length < end + 4 + length) return;
      onMessage(toObject(JSON.parse(bytes.toString('utf8', end + 4, end + 4 + length))));
      bytes = bytes.subarray(end + 4 + length);
    }
  });
}
