import { execFileSync } from 'node:child_process';

/** The parts of a CycloneDX bill of materials that are used here. Packages are named `name@version`. */
export interface BillOfMaterials {
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string }[];
}

/** Renders the bill of materials of the packages in the command line, each `name@version`. */
export function renderBillOfMaterials(bundled: readonly string[]): string {
  return `${JSON.stringify(selectMaterials(readBill(), bundled), null, 2)}\n`;
}

/** Selects packages of a bill. A shipped development dependency is listed like any other. Throws if the bill lacks one. */
export function selectMaterials(bill: BillOfMaterials, refs: readonly string[]): BillOfMaterials {
  const kept = new Set(refs);
  const known = new Set(bill.components.map((component) => component['bom-ref']));
  const missing = refs.filter((ref) => !known.has(ref));
  if (missing.length > 0) throw new Error(`package-lock.json does not have ${missing.join(', ')}`);
  const [root, ...dependencies] = bill.dependencies;
  const keepRefs = (list: readonly string[]) => list.filter((ref) => kept.has(ref));
  return {
    ...bill,
    // npm uses the name of the folder.
    metadata: { ...bill.metadata, component: { ...bill.metadata.component, name: 'edgewise' } },
    components: bill.components
      .filter((component) => kept.has(component['bom-ref']))
      .map(({ properties = [], ...component }) => ({
        ...component,
        properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
      })),
    dependencies: [...(root === undefined ? [] : [root]), ...dependencies.filter(({ ref }) => kept.has(ref))].map(
      ({ ref, dependsOn }) => ({ ref, dependsOn: keepRefs(dependsOn) }),
    ),
  };
}

/** Reads the bill from the lock file, so that it does not depend on the machine. */
function readBill(): BillOfMaterials {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--include', 'dev'];
  const bill: BillOfMaterials = JSON.parse(
    execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
  );
  return bill;
}
