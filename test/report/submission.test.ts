import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { renderSubmissionJson } from '../../src/report/machine/json.ts';
import { createSubmissionView, renderSubmissionState, renderSubmissionText } from '../../src/report/text/submission.ts';
import { ABUSE_REPORT } from './hostile-checks.ts';

const PLAIN = { color: false, width: 0, verbose: false };

const REPORT: JsonObject = {
  id: 'abrp_2ab',
  uri: 'https://api.example.com/abuse_reports/abrp_2ab',
  created_at: '2026-03-01T12:00:00Z',
  urls: ['https://phishing.example.com/login?next=%2F', 'https://例え.example.com/', 'https://shop.example.com/'],
  metadata: 'case-17\nseen by the night shift',
  status: 'PARTIALLY_PROCESSED',
  hostnames: [
    { hostname: 'phishing.example.com', status: 'BANNED' },
    { hostname: 'xn--r8jz45g.example.com', status: 'PENDING' },
    { hostname: 'shop.example.com', status: 'IGNORE' },
    { hostname: 'blog.example.com', status: 'UNBANNED' },
    { hostname: 'new.example.com', status: 'UNDER_REVIEW' },
  ],
};

function render(report: JsonObject, options = PLAIN): string {
  return renderSubmissionText(createSubmissionView(ABUSE_REPORT, report), options);
}

describe('an abuse report as text', () => {
  it('shows the progress, what was reported, and the result of each host name', async () => {
    await expect(render(REPORT)).toMatchFileSnapshot('goldens/abuse-report.txt');
  });

  it('leaves out what is missing', () => {
    expect(render({ id: 'abrp_2ab', status: 'PENDING', created_at: '2026-03-01T12:00:00Z' })).toBe(
      'abrp_2ab: PENDING, 0 of 0 host names decided\n  submitted  2026-03-01T12:00:00Z\n',
    );
    const odd = { id: 'abrp_2ab', urls: 'https://example.com', hostnames: [null, 'example.com', {}] };
    expect(render(odd)).toContain('of 1 host name decided');
  });

  it('colours what is decided, and says the same without colour', () => {
    const colored = render(REPORT, { ...PLAIN, color: true });
    expect(colored).toContain('\u001b[31mBANNED\u001b[39m');
    expect(colored).toContain('  UNDER_REVIEW\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of colours
    expect(colored.replaceAll(/\u001b\[\d+m/g, '')).toBe(render(REPORT));
  });

  it('quotes a host name or status with spaces, so that it looks like no other row', () => {
    const hostnames = [{ hostname: 'a.example.com  BANNED', status: 'constructor' }];
    expect(render({ ...REPORT, hostnames })).toContain('  "a.example.com  BANNED"  constructor\n');
  });

  it('shows its state on one line', () => {
    expect(renderSubmissionState(createSubmissionView(ABUSE_REPORT, REPORT))).toBe(
      'abrp_2ab: PARTIALLY_PROCESSED, 3 of 5 host names decided',
    );
  });
});

it.each([
  ['PENDING', false],
  ['PARTIALLY_PROCESSED', false],
  ['SOMETHING_NEW', false],
  ['PROCESSED', true],
])('counts a report that is %s as decided: %s', (status, expected) => {
  expect(createSubmissionView(ABUSE_REPORT, { ...REPORT, status }).isDecided).toBe(expected);
});

describe('an abuse report as JSON', () => {
  it('is shown as the service returns it, below the head of every document', () => {
    const document = renderSubmissionJson({ kind: ABUSE_REPORT, command: 'abuse-report get', shown: REPORT });
    expect(JSON.parse(document)).toEqual({ format: 1, command: 'abuse-report get', ok: true, report: REPORT });
    expect(document.endsWith('}\n')).toBe(true);
  });

  it('is not ok with an error', () => {
    const error = { message: 'The time limit is over.', remedy: 'Wait longer.' };
    const document = renderSubmissionJson({ kind: ABUSE_REPORT, command: 'abuse-report get', shown: REPORT, error });
    expect(JSON.parse(document)).toMatchObject({ ok: false, error, report: { id: 'abrp_2ab' } });
  });
});
