import { isModule, listSpecFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';

/**
 * What the manifests ask for when everything of theirs is to go: no resource, and no module that a document attaches.
 * Modules that a document does not state are left alone.
 */
export function toDestroyState(desired: DesiredState): DesiredState {
  const attached = [...desired.resources].filter(([, { kind }]) => getKind(kind).role === 'attached');
  return { ...desired, resources: new Map(attached.map(([address, resource]) => [address, withoutModules(resource)])) };
}

function withoutModules(resource: DesiredResource): DesiredResource {
  const modules = listSpecFields(getKind(resource.kind))
    .filter(([, field]) => isModule(field))
    .map(([name]) => name);
  const unstated = modules.filter((name) => resource.spec[name] === undefined);
  const spec = Object.entries(resource.spec).filter(([name]) => !modules.includes(name));
  const ignore = [...new Set([...resource.lifecycle.ignore, ...unstated])];
  return { ...resource, spec: Object.fromEntries(spec), lifecycle: { ...resource.lifecycle, ignore } };
}
