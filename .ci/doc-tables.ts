import { findExampleManifest } from '../src/explain/example.ts';
import type { AccessRestrictionMode, NamedField } from '../src/kinds/field.ts';
import { getNestedFields } from '../src/kinds/field.ts';
import { MANIFEST_KINDS } from '../src/kinds/tables/registry.ts';
import { LINT_RULES } from '../src/lint/rules.ts';
import { DANGER_GROUP_NAMES, DANGER_GROUPS, DANGERS } from '../src/model/danger.ts';
import { LINT_CODES } from '../src/model/diagnostic.ts';
import { DRIFT_STATE_MEANINGS } from '../src/model/drift.ts';
import { GAUGES } from '../src/report/machine/metrics.ts';
import { DOCUMENT_KINDS } from '../src/schemas/document.ts';

/** Tables of documents that are generated from tables in the sources. Each is between `<!-- table: NAME -->` and `<!-- end -->`. */
const TABLES: Readonly<Record<string, () => readonly (readonly string[])[]>> = {
  dangers: () => [
    ['Group', 'Danger', 'Fact'],
    ...DANGER_GROUP_NAMES.flatMap((group) =>
      Object.entries(DANGERS)
        .filter(([, danger]) => danger.group === group)
        .map(([name, { fact }], index) => [index === 0 ? toCode(group) : '', toCode(name), fact]),
    ),
  ],
  'danger-groups': () => [
    ['Group', 'Is about'],
    ...Object.entries(DANGER_GROUPS).map(([name, about]) => [toCode(name), about]),
  ],
  restrictions: () => [
    ['Kind', 'Field', 'Restricts'],
    ...MANIFEST_KINDS.flatMap((kind) =>
      kind.specFields
        .filter(([, { restriction }]) => restriction !== undefined)
        .flatMap(listWithParts)
        .map(([path, mode], index) => [index === 0 ? toCode(kind.name) : '', toCode(path), RESTRICTIONS[mode]]),
    ),
  ],
  'drift-states': () => [
    ['State', 'The resource'],
    ...Object.entries(DRIFT_STATE_MEANINGS).map(([name, meaning]) => [toCode(name), meaning]),
  ],
  'lint-rules': () => [
    ['Rule', 'Severity', 'Finds'],
    ...LINT_RULES.map(({ id, severity }) => [toCode(id), toCode(severity), LINT_CODES[id]]),
  ],
  gauges: () => [
    ['Gauge', 'Labels', 'Meaning'],
    ...Object.entries(GAUGES).map(([name, { labels, help }]) => [toCode(name), labels.map(toCode).join(', '), help]),
  ],
};

const RESTRICTIONS: Readonly<Record<AccessRestrictionMode, string>> = {
  'while-on': 'while it is set and on',
  'by-each': 'by each member',
  'allow-list': 'to its members',
  'allow-list-or-all': 'to its members; empty, it admits everyone',
  'by-rules': 'by each rule that denies or restricts',
  unproven: 'by policies or patterns, which are not compared',
  unknown: 'in a way that is not known here',
};

/** A field and the fields inside of it that restrict, by path. */
function listWithParts([name, field]: NamedField): readonly (readonly [path: string, mode: AccessRestrictionMode])[] {
  const parts = Object.entries(getNestedFields(field.type)).flatMap(([inner, { restriction }]) =>
    restriction === undefined ? [] : [[`${name}.${inner}`, restriction] as const],
  );
  return field.restriction === undefined ? parts : [[name, field.restriction], ...parts];
}

const TABLE = /^<!-- table: (.*) -->\n[\s\S]*?^<!-- end -->$/gm;

export function hasTable(document: string): boolean {
  return document.search(TABLE) >= 0;
}

/** Returns the document with current tables. Throws for an unknown table. */
export function refreshTables(document: string): string {
  return document.replace(TABLE, (_, name: string) => {
    const list = TABLES[name];
    if (list === undefined && name !== EXAMPLES) throw new Error(`No table is called ${name}`);
    return `<!-- table: ${name} -->\n${list === undefined ? renderExampleManifests() : renderTable(list())}\n<!-- end -->`;
  });
}

/** The name of the part with a whole manifest of each kind. */
const EXAMPLES = 'manifests';

function renderExampleManifests(): string {
  return DOCUMENT_KINDS.map((kind) => `### ${kind}\n\n\`\`\`yaml\n${findExampleManifest(kind)}\`\`\`\n`).join('\n');
}

function renderTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function toCode(text: string): string {
  return `\`${text}\``;
}
