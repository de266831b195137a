import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { XmlDocument, type XmlElement } from 'libxml2-wasm';

/** Documents for other programs, read as those read them. */

const SCHEMA = createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats.default(ajv);
// It says that it is of draft 4, and uses nothing that draft 7 reads otherwise.
const { id: _id, $schema: _draft, ...schema } = JSON.parse(readFileSync(SCHEMA, 'utf8'));
const validate = ajv.compile(schema);

/** What the SARIF 2.1.0 schema has against a log. */
export function validateSarif(log: unknown): readonly string[] {
  validate(log);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

type Numbers = Readonly<Record<'tests' | 'failures' | 'errors' | 'skipped', number>>;

/** The numbers that a JUnit document states for the whole and for each suite, and those of the elements that are really there. */
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
