import { isIdOf } from '../kinds/ids.ts';
import type { Kind } from '../kinds/kind.ts';
import type { OperationModule } from '../kinds/operations.ts';
import { toResourcePath } from '../kinds/paths.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { Failure } from './failure.ts';
import { renderField } from './render-resource.ts';
import { changeSpec, findResource } from './resource-handlers.ts';
import { type Call, isExternal, type Reply, type Service } from './service.ts';
import type { StoredResource } from './store.ts';
import { toTimestamp } from './timestamp.ts';
import { validateModule } from './validate-body.ts';

/** The operations on modules that have a path of their own, of owned and of attached kinds alike. */

export function replaceModule(service: Service, kind: Kind, module: OperationModule, call: Call): Reply {
  const holder = findHolder(service, kind, call.ids);
  const value = validateModule(kind, module, call.body);
  changeSpec(service, kind, holder, { [module.name]: value });
  return show(module, value, call);
}

export function getModule(service: Service, kind: Kind, module: OperationModule, call: Call): Reply {
  const value = findHolder(service, kind, call.ids).spec[module.name];
  if (value !== undefined) return show(module, value, call);
  throw new Failure(`${module.name} is not set`, { code: 'not_found', details: { module: module.name } });
}

export function deleteModule(service: Service, kind: Kind, module: OperationModule, call: Call): Reply {
  const holder = findHolder(service, kind, call.ids);
  const { [module.name]: removed, ...spec } = holder.spec;
  const isEmpty = !Object.keys(spec).some((name) => kind.fields[name]?.hasPath);
  if (removed === undefined) return { status: 204 };
  if (kind.role === 'attached' && isEmpty) service.store.remove(kind, holder);
  else service.store.put(kind, { ...holder, spec });
  return { status: 204 };
}

/** What the modules of an attached kind are kept on: begins empty on everything that exists. */
export function createAttachment(service: Service, kind: Kind, ids: Call['ids']): StoredResource {
  return {
    id: toResourcePath(kind, ids),
    createdAt: toTimestamp(service.now()),
    spec: ids,
    state: {},
    deletable: true,
  };
}

function findHolder(service: Service, kind: Kind, ids: Call['ids']): StoredResource {
  if (kind.role !== 'attached') return findResource(service, kind, ids);
  for (const [name, id] of Object.entries(ids)) {
    const type = kind.fields[name]?.type;
    const exists = type?.type === 'reference' && isIdOf(type, id) && isExternal(service, id);
    if (!exists) throw new Failure(`There is no ${id}`, { code: 'not_found', details: { id } });
  }
  const attachment = createAttachment(service, kind, ids);
  return service.store.listingOf(kind).find(attachment.id) ?? attachment;
}

function show(module: OperationModule, value: Json, { baseUrl }: Call): Reply {
  const body = renderField(module.field, value, baseUrl);
  return { status: 200, body: body as JsonObject }; // a module that is set renders to an object
}
