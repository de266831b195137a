import type { Field } from './field.ts';
import type { Kind } from './kind.ts';
import { toPathTemplate } from './paths.ts';
import { KINDS } from './tables/registry.ts';

/** What an operation of the interface does to a resource, or to a module that has a path of its own. */
export type OperationAction =
  | 'create'
  | 'list'
  | 'get'
  | 'update'
  | 'delete'
  | 'replace-module'
  | 'get-module'
  | 'delete-module';

/** The methods of the interface. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** The method of each action. */
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

/** One operation of the interface: an action of a kind at a method and a path. */
export interface Operation {
  /** Unique: `createTCPEdge`, `replaceTCPEdgeBackend`. */
  readonly id: string;
  readonly action: OperationAction;
  readonly method: Method;
  /** Relative to the base URL, with `{id}` and parents' ids in it. */
  readonly path: string;
  readonly kind: Kind;
  /** The module that it is about; `undefined`: the resource itself. */
  readonly module: OperationModule | undefined;
}

/** A module that has a path of its own, with its name. */
export interface OperationModule {
  readonly name: string;
  readonly field: Field;
}

/** Every operation of the interface, in the order of the registry. */
export const OPERATIONS: readonly Operation[] = KINDS.flatMap((kind) => [
  ...listResourceOperations(kind),
  ...listModuleOperations(kind),
]);

/** `backend` as part of an operation id or a schema name: `Backend`; `user_agent_filter`: `UserAgentFilter`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toPlural(name: string): string {
  return name.endsWith('s') ? `${name}es` : `${name}s`;
}

function listResourceOperations(kind: Kind): readonly Operation[] {
  const path = toPathTemplate(kind);
  const toOperation = (id: string, action: OperationAction): Operation => ({
    id,
    action,
    method: METHODS[action],
    path: action === 'create' || action === 'list' ? kind.path : path,
    kind,
    module: undefined,
  });
  const create = toOperation(`create${kind.name}`, 'create');
  const get = toOperation(`get${kind.name}`, 'get');
  if (kind.role === 'attached') return [];
  if (kind.role === 'submitted') return [create, get];
  return [
    create,
    toOperation(`list${toPlural(kind.name)}`, 'list'),
    get,
    toOperation(`update${kind.name}`, 'update'),
    toOperation(`delete${kind.name}`, 'delete'),
  ];
}

function listModuleOperations(kind: Kind): readonly Operation[] {
  const modules = Object.entries(kind.fields).filter(([, field]) => field.hasPath);
  return modules.flatMap(([name, field]): readonly Operation[] => {
    const slot = { kind, module: { name, field }, path: `${toPathTemplate(kind)}/${name}` };
    const title = `${kind.name}${toPascalCase(name)}`;
    const toOperation = (id: string, action: OperationAction): Operation => ({
      ...slot,
      id,
      action,
      method: METHODS[action],
    });
    return [
      toOperation(`replace${title}`, 'replace-module'),
      toOperation(`get${title}`, 'get-module'),
      toOperation(`delete${title}`, 'delete-module'),
    ];
  });
}
