import type { Field } from './field.ts';
import type { Kind } from './kind.ts';
import { getResourcePathTemplate } from './paths.ts';
import { KINDS } from './tables/registry.ts';

/** The effect of an API operation on a resource, or on a module with its own path. */
export type OperationAction =
  | 'create'
  | 'list'
  | 'get'
  | 'update'
  | 'delete'
  | 'replace-module'
  | 'get-module'
  | 'delete-module';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export const METHODS = {
  create: 'POST',
  list: 'GET',
  get: 'GET',
  update: 'PATCH',
  delete: 'DELETE',
  'replace-module': 'PUT',
  'get-module': 'GET',
  'delete-module': 'DELETE',
} as const satisfies Record<OperationAction, Method>;

export interface Operation {
  /** A unique id, such as `createTCPEdge` or `replaceTCPEdgeBackend`. */
  readonly id: string;
  readonly action: OperationAction;
  readonly method: Method;
  /** The path relative to the base URL, with `{id}` and the names of parents' ids as placeholders. */
  readonly path: string;
  readonly kind: Kind;
  /** The module that the operation concerns. `undefined` if it concerns the whole resource. */
  readonly module: NamedModule | undefined;
}

export interface NamedModule {
  readonly name: string;
  readonly field: Field;
}

/** All API operations, in the order of the registry. */
export const OPERATIONS: readonly Operation[] = KINDS.flatMap((kind) => [
  ...listResourceOperations(kind),
  ...listModuleOperations(kind),
]);

/** Converts a name for operation ids and schema names: `user_agent_filter` → `UserAgentFilter`. */
export function convertSnakeToPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toPlural(name: string): string {
  return name.endsWith('s') ? `${name}es` : `${name}s`;
}

function listResourceOperations(kind: Kind): readonly Operation[] {
  const path = getResourcePathTemplate(kind);
  const createOperation = (id: string, action: OperationAction): Operation => ({
    id,
    action,
    method: METHODS[action],
    path: action === 'create' || action === 'list' ? kind.path : path,
    kind,
    module: undefined,
  });
  const create = createOperation(`create${kind.name}`, 'create');
  const get = createOperation(`get${kind.name}`, 'get');
  if (kind.role === 'attached') return [];
  if (kind.role === 'submitted') return [create, get];
  return [
    create,
    createOperation(`list${toPlural(kind.name)}`, 'list'),
    get,
    createOperation(`update${kind.name}`, 'update'),
    createOperation(`delete${kind.name}`, 'delete'),
  ];
}

function listModuleOperations(kind: Kind): readonly Operation[] {
  const modules = Object.entries(kind.fields).filter(([, field]) => field.hasPath);
  return modules.flatMap(([name, field]): readonly Operation[] => {
    const slot = { kind, module: { name, field }, path: `${getResourcePathTemplate(kind)}/${name}` };
    const title = `${kind.name}${convertSnakeToPascalCase(name)}`;
    const createOperation = (id: string, action: OperationAction): Operation => ({
      ...slot,
      id,
      action,
      method: METHODS[action],
    });
    return [
      createOperation(`replace${title}`, 'replace-module'),
      createOperation(`get${title}`, 'get-module'),
      createOperation(`delete${title}`, 'delete-module'),
    ];
  });
}
