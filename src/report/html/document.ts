import { createHash } from 'node:crypto';
import { type Html, html } from './node.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

/** What a page shows. */
export interface Page {
  /** The one heading of first order; it stands on the tab of a browser too. */
  readonly heading: string;
  /** Sentences below it that limit what the page is about. */
  readonly notes: readonly string[];
  /** What it all comes to. */
  readonly verdict: readonly (Html | undefined)[];
  readonly body: readonly (Html | undefined)[];
}

/**
 * A whole document that loads nothing, from anywhere: its only style and its only script are those that stand in it, known by their digests,
 * so that no other could run even if one got in. What it shows is readable without the script.
 */
export function renderDocument({ heading, notes, verdict, body }: Page): string {
  const { source } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${heading}</title>
<link rel="icon" href="data:,">
<style>${{ source: STYLE }}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand">edgewise</p>
<button type="button" class="theme" aria-pressed="false" hidden>Dark</button>
<h1>${heading}</h1>
${notes.map((note) => html`<p class="note">${note}</p>\n`)}${verdict.map((sentence) => sentence && html`<p class="verdict">${sentence}</p>\n`)}</header>
<main id="main" tabindex="-1">
${body}</main>
<script>${{ source: SCRIPT }}</script>
</body>
</html>
`;
  return source;
}

/** The icon is empty, so that a browser does not ask the server of the page for one. */
const POLICY = [
  "default-src 'none'",
  `style-src ${toDigest(STYLE)}`,
  `script-src ${toDigest(SCRIPT)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function toDigest(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}
