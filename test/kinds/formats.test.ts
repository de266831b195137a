import { expect, it } from 'vitest';
import { FORMATS } from '../../src/kinds/formats.ts';
import { assertDefined } from '../../src/model/errors.ts';

const ED25519 = FORMATS['ssh-public-key'].example.replace(/ [^ ]*$/, '');

it.each(Object.values(FORMATS))('the example of a $title is valid', ({ example, check, pattern = '' }) => {
  expect(check(example)).toBeUndefined();
  expect(example).toMatch(new RegExp(pattern, 'u'));
});

it.each([
  ['hostport', 'a:1'],
  ['hostport', 'A_b.c-d:65535'],
  ['hostport', 'bücher.example.com:80'],
  ['domain', 'a.b'],
  ['domain', '_srv.example.com'],
  ['domain', `${'x'.repeat(63)}.example.com`],
  ['domain', 'bücher.example.com'],
  ['acl-rule', '*'],
  ['acl-rule', 'bind:*'],
  ['acl-rule', 'bind:example.com'],
  ['acl-rule', 'bind:*.bücher.example.com'],
  ['acl-rule', 'bind:a:80'],
  ['acl-rule', 'bind:*=a'],
  ['acl-rule', 'bind:a/b.c_d-e=*'],
  ['header-name', "!#$%&'*+.^_`|~09AZaz-"],
  ['header-value', ''],
  ['header-value', ' a\t=ü,🙂 '],
  ['ssh-public-key', ED25519],
  ['ssh-public-key', `\n ${ED25519.replace(' ', ' \t')}\ttwo words, 🙂\r\n`],
  ['http-url', 'HTTP://a'],
  ['principal', 'é=a/b'],
  ['critical-option', 'force-command'],
  ['certificate-extension', 'a b\n'],
  ['duration', '1s'],
  ['duration', '999999w'],
] as const)('the pattern of a %s matches %j, which is valid', (format, text) => {
  expect(FORMATS[format].check(text)).toBeUndefined();
  expect(text).toMatch(new RegExp(assertDefined(FORMATS[format].pattern, 'pattern'), 'u'));
});

it.each([
  ['hostport', 'nope'],
  ['hostport', 'a b:80'],
  ['domain', 'localhost'],
  ['acl-rule', 'bind:'],
  ['acl-rule', 'bind:a=b=c'],
  ['header-name', 'a b'],
  ['header-value', 'a\nb'],
  ['ssh-public-key', 'ssh-dss AAAA'],
  ['ssh-public-key', `${ED25519}\ncommand="id" ssh-rsa AAAA`],
  ['ssh-public-key', `${ED25519} alice\rssh-rsa AAAA`],
  ['ssh-public-key', `${ED25519} alice\0`],
  ['ssh-public-key', ED25519.replace(' ', '\n')],
  ['principal', 'a,b'],
  ['duration', '1y'],
] as const)('the pattern of a %s does not match %j', (format, text) => {
  expect(new RegExp(assertDefined(FORMATS[format].pattern, 'pattern'), 'u').test(text)).toBe(false);
});
