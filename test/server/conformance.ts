import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { createOpenApiDocument } from '../../src/schemas/openapi.ts';
import { getObject, getText } from './caller.ts';

/** Compares the responses of a server with its OpenAPI document: a request fails if its response is undocumented or differs from the document. */

const DOCUMENT = createOpenApiDocument();
const ROOT = 'openapi';

/** Errors of requests without an operation: an unknown path or method, which is checked first. */
const ANYWHERE: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthenticated',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  429: 'RateLimited',
};

const validator = createValidator();

/** A transport that rejects if a response, or the body of an accepted request, does not conform. */
export function withConformanceChecks(transport: Transport): Transport {
  return async (request) => {
    const asked = request.clone();
    const response = await transport(request);
    const operation = findOperation(asked);
    await checkResponse(`${asked.method} ${asked.url}`, operation, response.clone());
    if (response.ok && operation !== undefined) await checkRequest(operation, asked);
    return response;
  };
}

/** Throws if a value does not conform to a schema of the document. */
export function checkSchema(pointer: string, value: Json, what: string): void {
  const validate = validator.getSchema(`${ROOT}${pointer}`);
  if (validate === undefined) throw new Error(`${what}: there is no schema ${pointer}`);
  if (validate(value) !== true) {
    const problems = validator.errorsText(validate.errors ?? []);
    throw new Error(`${what} does not conform to ${pointer}: ${problems}\n${JSON.stringify(value)}`);
  }
}

function createValidator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(['openapi', 'info', 'servers', 'security', 'paths', 'components']);
  return ajv.addSchema({ ...DOCUMENT, $id: ROOT });
}

function findOperation(request: Request): JsonObject | undefined {
  const { pathname } = new URL(request.url);
  const paths = Object.entries(getObject(DOCUMENT['paths']));
  const found = paths.find(([path]) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname));
  const operation = found && getObject(found[1])[request.method.toLowerCase()];
  return isJsonObject(operation) ? operation : undefined;
}

async function checkResponse(what: string, operation: JsonObject | undefined, response: Response): Promise<void> {
  const documented =
    operation === undefined ? toAnywhere(response.status) : getObject(operation['responses'])[response.status];
  if (!isJsonObject(documented)) throw new Error(`${what}: the status ${response.status} is not documented`);
  const { headers = {}, content } = resolve(documented);
  for (const name of Object.keys(getObject(headers)))
    if (!response.headers.has(name)) throw new Error(`${what}: the header ${name} is missing`);
  if (content === undefined) {
    if ((await response.text()) !== '') throw new Error(`${what}: a body where none is documented`);
    return;
  }
  if (response.headers.get('content-type') !== 'application/json') throw new Error(`${what}: not application/json`);
  checkBody(getObject(content), JSON.parse(await response.text()), what);
}

async function checkRequest(operation: JsonObject, request: Request): Promise<void> {
  const { requestBody } = operation;
  if (requestBody === undefined) return;
  const content = getObject(getObject(requestBody)['content']);
  const body = withoutTolerated(JSON.parse(await request.text()));
  if (Object.keys(body).length === 0) return;
  checkBody(content, body, `the body of ${request.method} ${request.url}`);
}

/**
 * Removes what the server accepts and the document does not show, because generators would create fields or unions for it: the id, nulls, empty
 * texts in place of unspecified values, one member in place of a list, and what is around a module.
 */
function withoutTolerated({ id: _, module, ...body }: JsonObject): JsonObject {
  return getObject(withoutEmpty(module ?? body));
}

/** Members that may be one rule or one action instead of a list. */
const LISTS: ReadonlySet<string> = new Set(['inbound', 'outbound', 'actions']);

function withoutEmpty(value: Json): Json {
  if (isJsonArray(value)) return value.map(withoutEmpty);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null && member !== '');
  const members = kept.map(
    ([name, member]) => [name, LISTS.has(name) && isJsonObject(member) ? [member] : member] as const,
  );
  return Object.fromEntries(members.map(([name, member]) => [name, withoutEmpty(member)]));
}

function checkBody(content: JsonObject, value: Json, what: string): void {
  const schema = getObject(getObject(content['application/json'])['schema']);
  if (schema['$ref'] !== undefined) checkSchema(getText(schema['$ref']), value, what);
}

function toAnywhere(status: number): JsonObject | undefined {
  const name = ANYWHERE[status];
  return name === undefined ? undefined : { $ref: `#/components/responses/${name}` };
}

function resolve(response: JsonObject): JsonObject {
  const { $ref } = response;
  if ($ref === undefined) return response;
  const steps = getText($ref).split('/').slice(1);
  return steps.reduce<JsonObject>((inner, step) => getObject(inner[step]), DOCUMENT);
}
