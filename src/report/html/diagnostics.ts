import { type Diagnostic, hasErrors, type SourcePlace } from '../../model/diagnostic.ts';
import type { GuardViolation } from '../../model/plan.ts';
import { findSubject } from '../view/diagnostic-view.ts';
import type { ErrorView } from '../view/failure-view.ts';
import { toStandingText } from '../view/plan-wording.ts';
import { countSeverities } from '../view/wording.ts';
import { type Html, html } from './node.ts';

/** Messages below a heading; nothing when there are none. Their texts are printable. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): Html | undefined {
  if (diagnostics.length === 0) return undefined;
  return html`<section aria-labelledby="messages"><h2 id="messages">${hasErrors(diagnostics) ? 'What is wrong' : 'Warnings'}</h2>
${diagnostics.map(renderDiagnostic)}</section>
`;
}

/** Sentences that lead to what stands against a plan, and to what to heed; nothing when all is well. */
export function renderPointers(
  violations: readonly GuardViolation[],
  diagnostics: readonly Diagnostic[],
): Html | undefined {
  const found = countSeverities(diagnostics);
  const look = hasErrors(diagnostics) ? 'bad' : 'heed';
  if (violations.length === 0 && found === '') return undefined;
  return html`${violations.length === 0 ? '' : html`<a class="bad" href="#refusals">${toStandingText(violations.length)}</a>. `}${
    found === '' ? '' : html`<a class="${look}" href="#messages">${found}</a>.`
  }`;
}

function renderDiagnostic(diagnostic: Diagnostic): Html {
  const { severity, code, message, remedy, place, related = [] } = diagnostic;
  const name = findSubject(diagnostic);
  const subject = name === undefined ? '' : html` <code>${name}</code>`;
  return html`<article class="message ${severity}">
<p class="headline"><span class="label">${severity}</span> ${message}</p>
<p class="where"><code>${code}</code>${subject}</p>
${renderPlace(place)}${related.map(renderRelated)}${renderRemedy(remedy)}</article>
`;
}

function renderRelated({ message, place }: NonNullable<Diagnostic['related']>[number]): Html {
  return html`<p class="where">${message}</p>\n${renderPlace(place)}`;
}

/** A place with its excerpt, whose columns mean something, so it is scrolled and not wrapped. Nothing when there is none. */
export function renderPlace(place: SourcePlace | undefined): Html | undefined {
  if (place === undefined) return undefined;
  const { file, line, column, excerpt } = place;
  const position = `${file}:${line}:${column}`;
  const lines = excerpt.split('\n').filter((text) => text.trim() !== '');
  if (lines.length === 0) return html`<p class="where"><code>${position}</code></p>\n`;
  return html`<figure><figcaption><code>${position}</code></figcaption>
<pre tabindex="0" role="region" aria-label="Excerpt of ${position}">${lines.map((text) => html`${text}\n`)}</pre></figure>
`;
}

/** What to do. The first line is a sentence; others are made to be copied. */
function renderRemedy(remedy: string | undefined): Html | undefined {
  if (remedy === undefined) return undefined;
  const [sentence = '', ...lines] = remedy.split('\n');
  const copied = lines.length === 0 ? '' : html`<pre tabindex="0">${lines.map((line) => html`${line}\n`)}</pre>\n`;
  return html`<p class="remedy">${sentence}</p>\n${copied}`;
}

/** The safety rules that stand against a plan; nothing when there are none. */
export function renderViolations(violations: readonly GuardViolation[]): Html | undefined {
  if (violations.length === 0) return undefined;
  return html`<section aria-labelledby="refusals"><h2 id="refusals">Refused by safety rules</h2>
${violations.map(renderViolation)}</section>
`;
}

function renderViolation({ rule, message, remedy, addresses, places = [] }: GuardViolation): Html {
  const items = addresses.map((address) => html`<li><code>${address}</code></li>`);
  const list = items.length === 0 ? '' : html`<ul class="addresses">${items}</ul>\n`;
  return html`<article class="message error">
<p class="headline"><span class="label">refused</span> ${message}</p>
<p class="where"><code>${rule}</code></p>
${list}${places.map(renderRelated)}${renderRemedy(remedy)}</article>
`;
}

/** What went wrong besides: a message, what more there is to say, and what to do. */
export function renderError({ lines: [message = '', ...more], remedy }: ErrorView): Html {
  const said = more.length === 0 ? '' : html`<pre tabindex="0">${more.map((line) => html`${line}\n`)}</pre>\n`;
  return html`<section aria-labelledby="error"><h2 id="error">What went wrong</h2>
<article class="message error"><p class="headline">${message}</p>
${said}${renderRemedy(remedy)}</article></section>
`;
}
