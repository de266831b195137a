const TEN = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]';

/** Nested macros: ten to the power of the depth steps. */
export function nestMacros(depth: number): string {
  const opened = Array.from({ length: depth }, (_, level) => `${TEN}.all(v${level}, `);
  return `${opened.join('')}v0 >= 0${')'.repeat(depth)}`;
}

/** A value that is built from the last one again and again. */
export function createNestedValue(
  times: number,
  start: string,
  step: (name: string) => string,
  end: (name: string) => string,
): string {
  const bound = Array.from({ length: times }, (_, at) => `cel.bind(v${at + 1}, ${step(at === 0 ? 'v0' : `v${at}`)}, `);
  return `cel.bind(v0, ${start}, ${bound.join('')}${end(`v${times}`)}${')'.repeat(times + 1)}`;
}

const double = (name: string): string => `${name} + ${name}`;
const LONG_TEXT = `"${'a'.repeat(9_000)}"`;

/** Rules that exceed the limit of steps if they are evaluated to their end. All of them can be read. */
export const BOMBS: readonly (readonly [name: string, expression: string])[] = [
  ['macros in macros', nestMacros(9)],
  ['macros in macros whose error is of no account', `${nestMacros(9)} || true`],
  ['macros in macros in a macro that swallows errors', `[1, 2].exists(x, ${nestMacros(9)} || x == 2)`],
  ['map in map', `${TEN}.map(a, ${TEN}.map(b, ${TEN}.map(c, ${TEN}.map(d, ${TEN}.map(e, a + e))))).size() > 0`],
  ['a text that doubles', createNestedValue(20, LONG_TEXT, double, (name) => `${name}.size() > 0`)],
  ['a list that doubles', createNestedValue(20, TEN, double, (name) => `${name}.size() > 0`)],
  [
    'a list of lists that is compared',
    createNestedValue(
      16,
      TEN,
      (name) => `[${name}, ${name}]`,
      (name) => `[${name}] == [${name}]`,
    ),
  ],
  ['a pattern with alternatives of many repetitions', `${LONG_TEXT}.matches("${'(a{500}|b)'.repeat(80)}")`],
  ['a pattern with ranges of either case', `"".matches("(?i)${'[\\u0080-\\U0001e942]'.repeat(20)}")`],
  ['a pattern with classes of Unicode', `"".matches("${'\\\\pL'.repeat(300)}")`],
  ['a long pattern on a long text', `${LONG_TEXT}.matches("${'(a|b|ab)*'.repeat(200)}c")`],
  ['a search for what is nearly everywhere', `${TEN}.all(x, ${LONG_TEXT}.contains("b${'a'.repeat(4_000)}") == false)`],
  [
    'a separator of many members',
    createNestedValue(12, '["a", "b"]', double, (name) => `${name}.join(${LONG_TEXT}).size() > 0`),
  ],
  ['time zones', `${TEN}.all(a, ${TEN}.all(b, ${TEN}.all(c, now.getHours("Europe/Berlin") >= 0)))`],
  ['a duration of digits', `duration("${'1'.repeat(9_000)}") > duration("1s")`],
];

/** Rules that fail when they are evaluated, with few steps. */
export const FAILURES: readonly (readonly [name: string, expression: string])[] = [
  ['a label that is not there', 'labels.nobody == "data"'],
  ['a field of nothing', 'after.ip_restriction.enabled == true'],
  ['a division by zero', '1 / (size(labels) - 2) == 0'],
  ['a number that is too large', '9223372036854775807 + size(labels) > 0'],
  ['a pattern that is none', 'after.description.matches("(")'],
  ['a pattern that RE2 does not have', 'after.description.matches("(?=a)")'],
  ['a time that is none', 'timestamp(after.description) < now'],
  ['a time zone that is none', 'now.getHours("Nowhere/Land") > 0'],
  ['a place behind the end', 'after.hostports[9] == "a"'],
  ['a module that is not set', '!before.backend.enabled'],
  ['a comparison that only shows when it is made', 'dyn(after.description) > 3'],
  ['a comparison within a module', 'after.backend.backend_id > 3'],
  ['a rule that is a text of a module', 'after.backend.backend_id'],
  ['a field of a module that is not there, in a macro', 'after.hostports.all(one, after["backend"].enable)'],
  ['a pattern that is computed and too large', 'after.description.matches("(a{900}|b)".lowerAscii() + "{900}")'],
];

/** Texts that are not rules. */
export const UNREADABLE: readonly (readonly [name: string, expression: string])[] = [
  ['nothing but spaces', '   '],
  ['an open bracket', '(((('],
  ['brackets in brackets', `${'('.repeat(500)}true${')'.repeat(500)}`],
  ['lists in lists', `${'['.repeat(500)}${']'.repeat(500)} == []`],
  ['a long chain', Array(3_000).fill('true').join(' && ')],
  ['a long text', `"${'a'.repeat(50_000)}" == ""`],
  ['many negations', `${'!'.repeat(3_000)}true`],
  ['a variable that is not there', 'nobody == 1'],
  ['a field that is not there', 'after.nothing == 1'],
  ['a field of a change that is not there', 'change.nothing == 1'],
  ['a comparison of what cannot be compared', 'change.kind == 1'],
  ['a rule that is a text', '"true"'],
  ['a rule that is a list', 'after.hostports'],
  ['a function that is not there', 'rm("-rf")'],
  ['a function that CEL does not have', 'b"1".json() == {}'],
  ['a computed key, whose type would double', '{change.kind: 1} == {}'],
  ['characters of no language', '\u0000\u200b\ud800🦊'],
  ['a prototype', '__proto__ == 1'],
  ['a constructor', 'change.constructor == 1'],
];
