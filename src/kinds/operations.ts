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

/** One operation of the interface: an action of a kind at a method and a path. */
export interface Operation {
  /** Unique: `createTCPEdge`, `replaceTCPEdgeBackend`. */
  readonly id: string;
  readonly action: OperationAction;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
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

/** `backend` as it stands inside an operation id or a schema name: `Backend`; `user_agent_filter`: `UserAgentFilter`. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function listResourceOperations(kind: Kind): readonly Operation[] {
  const whole = { kind, module: undefined };
  const create: Operation = { ...whole, id: `create${kind.name}`, action: 'create', method: 'POST', path: kind.path };
  const path = toPathTemplate(kind);
  const get: Operation = { ...whole, id: `get${kind.name}`, action: 'get', method: 'GET', path };
  if (kind.role === 'attached') return [];
  if (kind.role === 'submitted') return [create, get];
  return [
    create,
    { ...whole, id: `list${kind.name}s`, action: 'list', method: 'GET', path: kind.path },
    get,
    { ...whole, id: `update${kind.name}`, action: 'update', method: 'PATCH', path },
    { ...whole, id: `delete${kind.name}`, action: 'delete', method: 'DELETE', path },
  ];
}

function listModuleOperations(kind: Kind): readonly Operation[] {
  const modules = Object.entries(kind.fields).filter(([, field]) => field.hasPath);
  return modules.flatMap(([name, field]): readonly Operation[] => {
    const slot = { kind, module: { name, field }, path: `${toPathTemplate(kind)}/${name}` };
    const title = `${kind.name}${toPascalCase(name)}`;
    return [
      { ...slot, id: `replace${title}`, action: 'replace-module', method: 'PUT' },
      { ...slot, id: `get${title}`, action: 'get-module', method: 'GET' },
      { ...slot, id: `delete${title}`, action: 'delete-module', method: 'DELETE' },
    ];
  });
}
