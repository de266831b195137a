import type { Kind } from '../src/kinds/kind.ts';
import { MANIFEST_KINDS } from '../src/kinds/tables/registry.ts';

/** The part of docs/manifests.md that lists the fields of each kind, as the kind tables have them. What each means is left to `explain` and the schema. */
export function renderManifestReference(): string {
  return [
    '| Kind | Fields of `spec` | Set by the service |',
    '| --- | --- | --- |',
    ...MANIFEST_KINDS.map(renderRow),
  ].join('\n');
}

function renderRow(kind: Kind): string {
  const stated = kind.specFields.map(([name]) => name);
  const computed = Object.keys(kind.fields).filter((name) => !stated.includes(name));
  return `| ${[kind.name, renderNames(kind, stated), renderNames(kind, computed)].join(' | ')} |`;
}

function renderNames({ fields }: Kind, names: readonly string[]): string {
  return names.map((name) => `\`${name}\`${fields[name]?.serviceDefault ? '*' : ''}`).join(', ');
}
