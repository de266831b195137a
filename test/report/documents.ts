import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { XmlDocument, type XmlElement } from 'libxml2-wasm';

/** Documents for other programs, read as those programs read them. */

const SCHEMA = createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv);
// The schema declares draft 4, but has no keyword that draft 7 reads differently.
const { id: _id, $schema: _draft, ...schema } = JSON.parse(readFileSync(SCHEMA, 'utf8'));
const validate = ajv.compile(schema);

/** Lists the violations of the SARIF 2.1.0 schema in a log. */
export function validateSarif(log: unknown): readonly string[] {
  validate(log);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

type Numbers = Readonly<Record<'tests' | 'failures' | 'errors' | 'skipped', number>>;

/** The counts that a JUnit document states, for the whole and for each suite, and the counts of its elements. */
export function readJunit(text: string): {
  readonly counts: readonly Numbers[];
  readonly elements: readonly Numbers[];
  readonly names: readonly string[];
} {
  const document = XmlDocument.fromString(text);
  try {
    const nodes = document.find('/testsuites | /testsuites/testsuite').map((node) => node as XmlElement); // the path finds elements only
    const count = (node: XmlElement, path: string): number => node.find(path).length;
    return {
      counts: nodes.map((node) => ({
        tests: Number(node.attr('tests')?.value),
        failures: Number(node.attr('failures')?.value),
        errors: Number(node.attr('errors')?.value),
        skipped: Number(node.attr('skipped')?.value),
      })),
      elements: nodes.map((node) => ({
        tests: count(node, './/testcase'),
        failures: count(node, './/testcase/failure'),
        errors: count(node, './/testcase/error'),
        skipped: count(node, './/testcase/skipped'),
      })),
      names: document.find('//testcase/@name').map(({ content }) => content),
    };
  } finally {
    document.dispose();
  }
}
