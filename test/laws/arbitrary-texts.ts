import fc from 'fast-check';
import { FORMATS, type TextFormat } from '../../src/kinds/formats.ts';
import { computeUtf8ByteLength } from '../../src/model/json.ts';

/** Texts that often cause mistakes and can be stored: prototypes, other naming styles, other scripts, syntax of YAML and of variables. */
export const HOSTILE_WORDS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'camelCase',
  'snake_case',
  'kebab-case',
  'with.dot',
  'with space',
  'with/slash',
  'ключ',
  'é',
  'e\u0301',
  '🙂',
  'null',
  'true',
  '1',
  '007',
  '1e3',
  '~',
  '<<',
  '[0]',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of a variable, as a text
  '${env:HOME}',
  '$${',
  'a: b',
  '- a',
  '"',
  '\\',
  'two\nlines',
  '\ttab ',
  '\u0001',
  '\u202e',
  '\uffff',
  'External/ipp-0',
] as const;

/** Any code point of a text: no NUL, and no half of a surrogate pair. The unit `binary` is the same, but takes half a second to start. */
const ANY_LETTER = fc
  .integer({ min: 1, max: 0x10_f7_ff })
  .map((number) => String.fromCodePoint(number < 0xd8_00 ? number : number + 0x8_00));

/** Any text of at most `maxBytes` bytes of UTF-8, often of exactly that length. */
export function arbitraryText(maxBytes = 64): fc.Arbitrary<string> {
  return fc
    .oneof(
      { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_WORDS) },
      { weight: 4, arbitrary: fc.string({ maxLength: 20 }) },
      { weight: 2, arbitrary: fc.string({ unit: ANY_LETTER, maxLength: 20 }) },
      { weight: 1, arbitrary: fc.constantFrom('x', 'é', '漢', '🙂').map((letter) => fill(letter, maxBytes)) },
      { weight: 1, arbitrary: fc.constant('') },
    )
    .map((text) => truncateToBytes(text, maxBytes));
}

/** Any text in a checked format. Formats of unique values have few texts. */
export function arbitraryFormatted(format: TextFormat): fc.Arbitrary<string> {
  return TEXTS[format].filter((text) => FORMATS[format].check(text) === undefined);
}

const LABELS = ['a', 'x'.repeat(63), 'A-b', '_srv', 'xn--bcher-kva', '0'];
const DOMAINS = [
  ...LABELS.map((label) => `${label}.example.com`),
  'bücher.example.com',
  'gone.invalid',
  `${'abcdefg.'.repeat(31)}xampl`,
];
const ED25519 = Buffer.concat([toSshString(Buffer.from('ssh-ed25519')), Buffer.from([0, 0, 0, 32])]);
const ECDSA =
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBMwqCIGNbs2C8ZlvJp/FrGgNUGM38v+sJTBMVqUMybPw/ojEqjdNOIN6psEI8pcJTrhJ8QXvzFfGSYzNCxvDWKE=';

const TEXTS: Readonly<Record<TextFormat, fc.Arbitrary<string>>> = {
  hostport: fc.constantFrom(
    ...[1, 443, 20_001, 20_002, 20_003, 65_535].map((port) => `1.tcp.example.net:${port}`),
    '1.TCP.example.net:443',
    'localhost:5432',
    `${DOMAINS[1]}:1`,
  ),
  domain: fc.constantFrom(...DOMAINS, 'a.EXAMPLE.com'),
  'acl-rule': fc.oneof(
    { weight: 1, arbitrary: fc.constant('*') },
    {
      weight: 9,
      arbitrary: fc.constantFrom(
        ...DOMAINS.flatMap((domain) => [`bind:${domain}`, `bind:*.${domain}`]),
        'bind:*',
        'bind:*=a',
        'bind:a=*',
        'bind:app=a/b.c_d',
        'bind:1.tcp.example.net:443',
      ),
    },
  ),
  're2-pattern': fc.oneof(
    fc.constantFrom('', '.*', '(?i)bot', '(Pingdom|curl)/\\d+', '\\p{Greek}', '[[:alpha:]]', '🙂+'),
    fc.string({ maxLength: 8 }),
  ),
  'header-name': fc.oneof(
    fc.constantFrom('X-Debug', 'x-debug', '__proto__', 'constructor', 'toString', 'camelCase', '1', "!#$%&'*+.^_`|~"),
    fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'abcXYZ-_09') }),
  ),
  'critical-option': fc.constantFrom('force-command', 'source-address'),
  'certificate-extension': fc.oneof(
    fc.constantFrom('permit-pty', 'permit-user-rc'),
    arbitraryText().filter((text) => text !== ''),
  ),
  'no-value': fc.constant(''),
  'header-value': fc.oneof(fc.constantFrom('', ' ', 'a b', 'é🙂'), fc.string({ maxLength: 12 })),
  'ssh-public-key': fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), arbitraryComment()).map(toEd25519),
    },
    { weight: 1, arbitrary: arbitraryComment().map((comment) => `${ECDSA}${comment}`) },
  ),
  'http-url': fc.constantFrom('https://phishing.example.com/login', 'http://[::1]:8080/?q=🙂'),
  cidr: fc.constantFrom(
    '10.0.0.0/8',
    '10.1.2.3/8',
    '192.0.2.7',
    '192.0.2.7/32',
    '2001:DB8:0::/32',
    '2001:db8::1',
    '0.0.0.0/0',
  ),
  'source-addresses': fc.constantFrom('192.0.2.7', '10.0.0.0/8,2001:db8::/32', '10.0.0.0/8,2001:DB8:0::/32'),
  duration: fc.constantFrom('2h', '23h', '36h', '1440m', '90d', '52w'),
  principal: fc.oneof(fc.constantFrom('deploy', 'root', '__proto__', 'é'), fc.string({ minLength: 1, maxLength: 8 })),
};

function arbitraryComment(): fc.Arbitrary<string> {
  return fc.constantFrom('', ' ', ' alice@example.com', '  two words ');
}

function toEd25519([bytes, comment]: readonly [Uint8Array, string]): string {
  return `ssh-ed25519 ${Buffer.concat([ED25519, bytes]).toString('base64')}${comment}`;
}

function toSshString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function fill(letter: string, maxBytes: number): string {
  const whole = letter.repeat(Math.floor(maxBytes / computeUtf8ByteLength(letter)));
  return whole + 'x'.repeat(maxBytes - computeUtf8ByteLength(whole));
}

/** The longest start of a text with at most that many bytes. */
function truncateToBytes(text: string, maxBytes: number): string {
  let kept = '';
  for (const letter of text) {
    if (computeUtf8ByteLength(kept + letter) > maxBytes) return kept;
    kept += letter;
  }
  return kept;
}
