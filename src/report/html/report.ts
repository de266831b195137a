import { type Diagnostic, hasErrors, type SourcePlace } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type { Plan, SafetyViolation } from '../../model/plan.ts';
import type {
  ApplyReport,
  ComparisonReport,
  DriftReport,
  FailureReport,
  FormatOptions,
  PlanReport,
  Report,
  ValidationReport,
} from '../report.ts';
import {
  type AppliedWriteView,
  type ApplyView,
  createApplyView,
  type FailedView,
  type FileOutcomeView,
  INCOMPLETE_APPLY_PREFIX,
  PLAN_HEADING,
  RESULT_SECTION_HEADINGS,
  type SkippedView,
} from '../view/apply-view.ts';
import { createComparisonView } from '../view/comparison-view.ts';
import { findDangerSourcePlace } from '../view/danger-view.ts';
import {
  createFailureView,
  createPlaceLinks,
  type ErrorView,
  findUnmentionedAddress,
  toPrintableDiagnostic,
} from '../view/diagnostic-view.ts';
import { createDriftView } from '../view/drift-view.ts';
import { createPlanView, formatLintRuleLine, type PlanView, type WriteView } from '../view/plan-view.ts';
import {
  formatBlockingRuleCount,
  formatOwnerNote,
  PLAN_LIST_HEADINGS,
  REQUESTS_HEADING,
  REQUESTS_ORDER_NOTE,
} from '../view/plan-wording.ts';
import {
  formatCommandNotCompleted,
  formatCount,
  formatResourceAndFileCounts,
  formatSeverityCounts,
} from '../view/wording.ts';
import {
  formatChangeAnchor,
  formatResourceAnchor,
  type RenderFieldPlace,
  renderApplyCommand,
  renderChanges,
  renderDanger,
  renderDriftCounts,
  renderDriftGroups,
  renderPlanCounts,
  renderUnmanagedResources,
} from './change-list.ts';
import { type HtmlPage, renderHtmlDocument } from './document.ts';
import { renderGraph } from './graph.ts';
import { type Html, html, renderCounts, renderListSection } from './node.ts';

/** A report as one self-contained HTML page. Pipelines can keep it as an artifact. */
export function renderHtmlReport(report: Report, options: FormatOptions): string {
  return renderHtmlDocument(createReportPage(report, options));
}

/** The page of a report. With `options.isPart`, it omits text that the surrounding page shows. */
export function createReportPage(report: Report, options: FormatOptions): HtmlPage {
  switch (report.about) {
    case 'plan':
      return createPlanPage(report, options);
    case 'apply':
      return createApplyPage(report, options);
    case 'comparison':
      return createComparisonPage(report);
    case 'drift':
      return createDriftPage(report, options);
    case 'validation':
      return createValidationPage(report);
    case 'failure':
      return createFailurePage(report);
    default:
      return assertNever(report);
  }
}

function createPlanPage({ plan, blocking }: PlanReport, options: FormatOptions): HtmlPage {
  const { applyCommand, isPart = false } = options;
  const view = createPlanView({ ...plan, violations: blocking }, options);
  const { title, notes, violations, diagnostics } = view;
  const renderPlace = createPlaces(plan, options);
  const changes = renderChanges(view, { renderPlace, isPart });
  const shown = view.parts.flatMap((part) => part.changes);
  const dangers = listDangers(view, { shown, toAnchor: formatChangeAnchor, renderPlace });
  const found = renderDiagnostics(diagnostics);
  return {
    heading: title,
    notes,
    dangers,
    conclusion: [
      hasErrors(diagnostics) || view.isEmpty ? html`<strong>${view.summary}</strong>` : undefined,
      html`${view.requests}`,
      renderPointers(violations, diagnostics),
    ],
    body: [
      hasErrors(diagnostics) || isPart ? undefined : renderPlanCounts(view),
      renderViolations(violations),
      isPart ? undefined : renderDangerSection(view.dangerCount, dangers),
      renderApplyCommand(view, applyCommand),
      ...(hasErrors(diagnostics) ? [found, ...changes] : [...changes, found]),
      renderListSection('planned-files', PLAN_LIST_HEADINGS.files, view.files),
      ...listMore(view, options),
    ],
  };
}

/**
 * The content below the changes of a plan, applied or not. With `isPart`, it omits the graph, which only repeats the
 * dependencies in the list of requests.
 */
function listMore(
  { suppressedDeletes, done, unchanged, lint, writes }: PlanView,
  { isPart = false }: Pick<FormatOptions, 'isPart'>,
): readonly (Html | undefined)[] {
  return [
    renderListSection('suppressedDeletes', PLAN_LIST_HEADINGS.suppressedDeletes, suppressedDeletes),
    renderListSection('done', PLAN_LIST_HEADINGS.done, done),
    renderListSection('unchanged', PLAN_LIST_HEADINGS.unchanged, unchanged),
    renderListSection('lint', PLAN_LIST_HEADINGS.lint, lint.map(formatLintRuleLine)),
    isPart ? undefined : renderGraph(writes),
    renderWrites(writes),
  ];
}

function createApplyPage({ plan, result }: ApplyReport, options: FormatOptions): HtmlPage {
  const ended = createApplyView(plan, result, options);
  const view = createPlanView({ ...plan, violations: [] });
  const { title, isComplete, summary, diagnostics } = ended;
  return {
    heading: title,
    notes: view.notes,
    conclusion: [
      isComplete
        ? html`<strong>${summary}.</strong>`
        : html`<strong class="bad">${INCOMPLETE_APPLY_PREFIX}${summary}.</strong>`,
    ],
    body: [
      renderOutcomeCounts(ended),
      ...renderFailure(ended),
      renderDiagnostics([...diagnostics, ...view.diagnostics]),
      ...renderDone(ended),
      html`<section aria-labelledby="plan"><h2 id="plan">${PLAN_HEADING}</h2></section>\n`,
      renderPlanCounts(view),
      ...renderChanges(view, { renderPlace: createPlaces(plan, options), isPart: options.isPart }),
      ...listMore(view, options),
    ],
  };
}

function createComparisonPage(report: ComparisonReport): HtmlPage {
  const { title, summary, remedy, members, parts, diagnostics, isRefused } = createComparisonView(report);
  const sentences = [`${summary}`, ...(remedy === undefined ? [] : [remedy])].join(' ');
  return {
    heading: title,
    notes: [],
    conclusion: [isRefused ? html`<strong class="bad">${sentences}</strong>` : html`<strong>${sentences}</strong>`],
    body: [
      renderListSection('members', PLAN_LIST_HEADINGS.members, members),
      ...renderChanges({ parts: parts.filter(({ changes }) => changes.length > 0) }),
      ...parts.map(({ part, heading, files }) => renderListSection(`${part}-files`, `${heading}: files`, files)),
      renderDiagnostics(diagnostics),
    ],
  };
}

function createDriftPage({ drift }: DriftReport, options: FormatOptions): HtmlPage {
  const { isPart = false } = options;
  const view = createDriftView(drift, options);
  const renderPlace = createPlaces(drift, options);
  const shown = view.groups.flatMap(({ resources }) => resources);
  const dangers = listDangers(view, { shown, toAnchor: formatResourceAnchor, renderPlace });
  return {
    heading: view.title,
    notes: [view.compared, ...view.notes].filter(Boolean),
    dangers,
    conclusion: [
      view.groups.length === 0 ? html`<strong>${view.summary}</strong>` : undefined,
      html`${view.coverage} ${view.requests}`,
      renderPointers([], view.diagnostics),
    ],
    body: [
      ...(isPart ? [] : [renderDriftCounts(view.counts), renderDangerSection(view.dangerCount, dangers)]),
      html`${view.hints.map((hint) => html`<p class="note">${hint}</p>\n`)}`,
      ...renderDriftGroups(view, renderPlace),
      renderDiagnostics(view.diagnostics),
      renderUnmanagedResources(view.unmanaged),
    ],
  };
}

function createValidationPage({ validation }: ValidationReport): HtmlPage {
  const { diagnostics } = validation;
  const isValid = !hasErrors(diagnostics);
  return {
    heading: isValid ? 'The manifests are valid' : 'The manifests are invalid',
    notes: [],
    conclusion: [html`${formatResourceAndFileCounts(validation)}.`, renderPointers([], diagnostics)],
    body: [renderDiagnostics(diagnostics.map(toPrintableDiagnostic))],
  };
}

function createFailurePage({ failure }: FailureReport): HtmlPage {
  const { error, diagnostics } = createFailureView(failure);
  return {
    heading: formatCommandNotCompleted(failure.command),
    notes: [],
    conclusion: [renderPointers([], diagnostics)],
    body: [error === undefined ? undefined : renderError(error), renderDiagnostics(diagnostics)],
  };
}

function renderOutcomeCounts({ totals }: Pick<ApplyView, 'totals'>): Html {
  return renderCounts('Writes by outcome', [
    { look: 'failed', label: 'failed', number: totals.failed },
    { look: 'skipped', label: 'skipped', number: totals.skipped },
    { look: 'applied', label: 'applied', number: totals.applied },
  ]);
}

/** Failed writes, the next steps for the user, and skipped writes. */
function renderFailure({ failed, skipped, notStarted, next }: ApplyView): readonly (Html | undefined)[] {
  return [
    failed.length === 0 ? undefined : renderSection('failed', failed.map(renderFailed)),
    next.length === 0 ? undefined : renderSteps(next),
    skipped.length === 0 && notStarted === undefined
      ? undefined
      : renderSection('skipped', [...skipped.map(renderSkipped), ...renderNotStarted(notStarted)]),
  ];
}

function renderDone({ applied, tokens, files }: ApplyView): readonly (Html | undefined)[] {
  return [
    renderSentences('tokens', tokens.map(renderToken)),
    renderSentences('files', files.map(renderFile)),
    applied.length === 0 ? undefined : renderApplied(applied),
  ];
}

type Part = keyof typeof RESULT_SECTION_HEADINGS;

function renderSection(part: Part, messages: readonly Html[]): Html {
  return html`<section aria-labelledby="${part}"><h2 id="${part}">${RESULT_SECTION_HEADINGS[part]}</h2>
${messages}</section>
`;
}

function renderFailed({ name, request, sentences, place }: FailedView): Html {
  const where = request === undefined ? '' : html`<p class="where"><code>${request}</code></p>\n`;
  return html`<article class="message error"><p class="headline"><span class="label">failed</span> ${name}</p>
${where}${sentences.map((sentence) => html`<p>${sentence}</p>\n`)}${renderPlace(place)}</article>
`;
}

function renderSkipped({ name, reasons }: SkippedView): Html {
  return html`<article class="message warning"><p class="headline"><span class="label">skipped</span> ${name}</p>
${reasons.map((reason) => html`<p class="where">${reason}</p>\n`)}</article>
`;
}

function renderNotStarted(sentence: string | undefined): readonly Html[] {
  return sentence === undefined ? [] : [html`<p class="note">${sentence}</p>\n`];
}

function renderSteps(steps: readonly string[]): Html {
  return html`<section aria-labelledby="next"><h2 id="next">${RESULT_SECTION_HEADINGS.next}</h2>
<ul class="list">${steps.map((step) => html`<li>${step}</li>\n`)}</ul></section>
`;
}

function renderSentences(part: Part, sentences: readonly Html[]): Html | undefined {
  if (sentences.length === 0) return undefined;
  return html`<section aria-labelledby="${part}"><h2 id="${part}">${RESULT_SECTION_HEADINGS[part]}</h2>
<ul class="list">${sentences.map((sentence) => html`<li>${sentence}</li>\n`)}</ul></section>
`;
}

function renderToken({ address, place, rescued }: ApplyView['tokens'][number]): Html {
  return html`<code>${address}</code>: ${rescued ? html`<strong>rescued</strong> to ` : ''}${place}`;
}

function renderFile({ address, path, outcome, message = '' }: FileOutcomeView): Html {
  const end = outcome === 'applied' ? '' : html` <strong>${outcome}</strong>: ${message}`;
  return html`<code>${path}</code> of <code>${address}</code>${end}`;
}

function renderApplied(applied: readonly AppliedWriteView[]): Html {
  const rows = applied.map(
    ({ name, id = '', note = '' }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td><code>${id}</code></td><td>${note}</td></tr>\n`,
  );
  return html`<details class="requests" open><summary><h2>${formatCount(applied.length, 'write')} applied</h2></summary>
<table class="grid" aria-label="Applied writes"><thead><tr><th scope="col">Write</th><th scope="col">Id</th><th scope="col">Note</th></tr></thead>
<tbody>
${rows}</tbody></table></details>
`;
}

/** A table of the plan's requests, in one of the orders in which they can be sent. Undefined if there are none. */
export function renderWrites(writes: readonly WriteView[]): Html | undefined {
  if (writes.length === 0) return undefined;
  return html`<details class="requests"><summary><h2>${formatCount(writes.length, 'request')}, ${REQUESTS_ORDER_NOTE}</h2></summary>
<table class="grid" aria-label="${REQUESTS_HEADING}">
<thead><tr><th scope="col" class="number">No.</th><th scope="col">Request</th><th scope="col">What for</th><th scope="col">Waits for</th></tr></thead>
<tbody>
${writes.map(renderWrite)}</tbody></table></details>
`;
}

function renderWrite({ number, id, method, path, reason, waitsFor, last }: WriteView): Html {
  const waits = waitsFor.map((one, index) => html`${index === 0 ? '' : ', '}<a href="#write-${one}">${one}</a>`);
  return html`<tr id="write-${number}"><td class="number">${number}</td><th scope="row"><code>${method} ${path}</code></th><td><code>${id}</code><br>${reason}</td><td>${waits}${last ? ' all others: it comes last' : ''}</td></tr>
`;
}

/** Returns a renderer for positions of fields in manifests. The positions are links if the forge is known. */
function createPlaces(plan: Pick<Plan, 'made'>, options: FormatOptions): RenderFieldPlace {
  const findLink = createPlaceLinks(plan, options);
  return (about) => {
    const place = findDangerSourcePlace(about, options);
    const link = place === undefined ? undefined : findLink(place);
    if (link === undefined) return undefined;
    const label = html`<code>${link.label}</code>`;
    return link.page === undefined ? label : html`<a href="${link.page}">${label}</a>`;
  };
}

interface DangerPlaces {
  /** The entries of the page, in their order. */
  readonly shown: readonly { readonly address: string }[];
  readonly toAnchor: (index: number) => string;
  readonly renderPlace: RenderFieldPlace;
}

/**
 * The dangers by group, each with its owner, its position and a link to the entry of its resource. A resource with the
 * danger `ended` may be in sync. It then has no entry, and the danger has no link.
 */
function listDangers(
  { dangers }: Pick<PlanView, 'dangers'>,
  { shown, toAnchor, renderPlace }: DangerPlaces,
): readonly Html[] {
  const findAnchor = createFinder(shown, toAnchor);
  return dangers.map((danger) => {
    const { group, address, owner } = danger;
    const anchor = findAnchor(address);
    const name = html`<code>${address}</code>`;
    const place = renderPlace(danger);
    return html`<strong>${group}</strong> ${anchor === undefined ? name : html`<a href="#${anchor}">${name}</a>`} ${renderDanger(danger)}${owner === undefined ? '' : html` <span class="detail">${formatOwnerNote(owner)}</span>`}${place === undefined ? '' : html` ${place}`}`;
  });
}

/** A list of dangers below a heading with their number. Undefined if there are no dangers. */
export function renderDangerSection(dangerCount: string, dangers: readonly Html[]): Html | undefined {
  if (dangers.length === 0) return undefined;
  return html`<section aria-labelledby="dangers"><h2 id="dangers">${dangerCount}</h2>
<ul class="list dangers">${dangers.map((danger) => html`<li>${danger}</li>\n`)}</ul></section>
`;
}

/** Returns a function that finds the anchor of an address. If two entries have the address, it finds the first. */
function createFinder(
  entries: DangerPlaces['shown'],
  toAnchor: DangerPlaces['toAnchor'],
): (address: string) => string | undefined {
  const anchors = new Map<string, string>();
  for (const [index, { address }] of entries.entries()) {
    if (!anchors.has(address)) anchors.set(address, toAnchor(index));
  }
  return (address) => anchors.get(address);
}

/** Diagnostics below a heading. Undefined if there are no diagnostics. Their texts must already be printable. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[]): Html | undefined {
  if (diagnostics.length === 0) return undefined;
  return html`<section aria-labelledby="messages"><h2 id="messages">${hasErrors(diagnostics) ? 'What is wrong' : 'Warnings'}</h2>
${diagnostics.map(renderDiagnostic)}</section>
`;
}

/** Sentences that link to the violations and the diagnostics of a plan. Undefined if the plan has neither. */
function renderPointers(violations: readonly SafetyViolation[], diagnostics: readonly Diagnostic[]): Html | undefined {
  const found = formatSeverityCounts(diagnostics);
  const look = hasErrors(diagnostics) ? 'bad' : 'heed';
  if (violations.length === 0 && found === '') return undefined;
  return html`${violations.length === 0 ? '' : html`<a class="bad" href="#refusals">${formatBlockingRuleCount(violations.length)}</a>. `}${
    found === '' ? '' : html`<a class="${look}" href="#messages">${found}</a>.`
  }`;
}

function renderDiagnostic(diagnostic: Diagnostic): Html {
  const { severity, code, message, remedy, place, related = [] } = diagnostic;
  const name = findUnmentionedAddress(diagnostic);
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

/**
 * A position with its excerpt. The excerpt scrolls instead of wrapping, so that the caret stays in its column.
 * Undefined without a place.
 */
function renderPlace(place: SourcePlace | undefined): Html | undefined {
  if (place === undefined) return undefined;
  const { file, line, column, excerpt } = place;
  const position = `${file}:${line}:${column}`;
  const lines = excerpt.split('\n').filter((text) => text.trim() !== '');
  if (lines.length === 0) return html`<p class="where"><code>${position}</code></p>\n`;
  return html`<figure><figcaption><code>${position}</code></figcaption>
<pre tabindex="0" role="region" aria-label="Excerpt of ${position}">${lines.map((text) => html`${text}\n`)}</pre></figure>
`;
}

/** A remedy. The first line is a sentence; all further lines are for the user to copy. */
function renderRemedy(remedy: string | undefined): Html | undefined {
  if (remedy === undefined) return undefined;
  const [sentence = '', ...lines] = remedy.split('\n');
  const copied = lines.length === 0 ? '' : html`<pre tabindex="0">${lines.map((line) => html`${line}\n`)}</pre>\n`;
  return html`<p class="remedy">${sentence}</p>\n${copied}`;
}

/** The safety rules that a plan breaks. Undefined if it breaks none. */
function renderViolations(violations: readonly SafetyViolation[]): Html | undefined {
  if (violations.length === 0) return undefined;
  return html`<section aria-labelledby="refusals"><h2 id="refusals">Refused by safety rules</h2>
${violations.map(renderViolation)}</section>
`;
}

function renderViolation({ rule, message, remedy, addresses, places = [] }: SafetyViolation): Html {
  const items = addresses.map((address) => html`<li><code>${address}</code></li>`);
  const list = items.length === 0 ? '' : html`<ul class="addresses">${items}</ul>\n`;
  return html`<article class="message error">
<p class="headline"><span class="label">refused</span> ${message}</p>
<p class="where"><code>${rule}</code></p>
${list}${places.map(renderRelated)}${renderRemedy(remedy)}</article>
`;
}

function renderError({ lines: [message = '', ...more], remedy }: ErrorView): Html {
  const said = more.length === 0 ? '' : html`<pre tabindex="0">${more.map((line) => html`${line}\n`)}</pre>\n`;
  return html`<section aria-labelledby="error"><h2 id="error">What went wrong</h2>
<article class="message error"><p class="headline">${message}</p>
${said}${renderRemedy(remedy)}</article></section>
`;
}
