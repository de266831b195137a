import { FACE } from './face.ts';

/** The style of a page, on screen and on paper. */
export const STYLE = `${FACE}
html { background: var(--page); color: var(--ink); scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.25rem 1.5rem 4rem; max-width: 74rem;
  font: 0.9375rem/1.5 var(--sans);
  overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
}
h1, h2, h3, p, ul, dl, dd, figure, table, fieldset { margin: 0; padding: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; text-wrap: balance; }
h2 { font-size: 1rem; font-weight: 650; letter-spacing: -0.005em; }
h3 { font: 600 0.875rem/1.45 var(--mono); }
code, pre, .mono { font: 0.8125rem/1.5 var(--mono); }
bdi, code, td, th, h3 { unicode-bidi: isolate; }
a { color: var(--accent); text-underline-offset: 0.15em; }
button, input { font: inherit; color: inherit; }
main:focus { outline: none; }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 0.5rem; z-index: 9; background: var(--sheet); padding: 0.375rem 0.75rem; }
section, .requests { margin-top: 2rem; }
section > h2 { margin-bottom: 0.5rem; }

header { display: grid; grid-template-columns: 1fr auto; column-gap: 1rem; }
header > * { grid-column: 1 / -1; }
header .brand { grid-column: 1; }
.theme { grid-column: 2; grid-row: 1; }
h1 { margin-top: 1rem; }
.note { color: var(--soft); margin-top: 0.25rem; }
.conclusion { margin-top: 0.75rem; max-width: 95ch; }
.conclusion .bad { color: var(--red); font-weight: 600; }
.conclusion .heed { color: var(--amber); font-weight: 600; }

.theme, .filter button {
  background: var(--sheet); border: 1px solid var(--edge); border-radius: 999px; padding: 0.125rem 0.75rem;
  font-size: 0.8125rem; line-height: 1.5; cursor: pointer;
}
.theme:hover, .filter button:hover { background: var(--raised); }
.theme[aria-pressed="true"], .filter button[aria-pressed="true"] { background: var(--ink); border-color: var(--ink); color: var(--page); }
.filter [data-facet="group"] button::before { content: ""; display: inline-block; width: 0.5rem; height: 0.5rem; border-radius: 50%; background: var(--tint); margin-right: 0.375rem; }
.filter button .count { color: var(--soft); margin-left: 0.25rem; }
.filter button[aria-pressed="true"] .count { color: inherit; }
.filter button.none { border-style: dashed; color: var(--soft); }

.counts { display: flex; flex-wrap: wrap; gap: 0.5rem 2.25rem; list-style: none; margin-top: 1.25rem; }
.counts li { display: grid; min-width: 3.4rem; border-top: 3px solid currentColor; padding-top: 0.375rem; }
.counts strong { font-size: 1.75rem; line-height: 1.15; font-weight: 600; letter-spacing: -0.02em; }
.counts span { font-size: 0.8125rem; color: var(--soft); }
.counts .zero { color: var(--edge); border-top-width: 1px; padding-top: calc(0.375rem + 2px); }
.counts .zero strong { font-weight: 400; color: var(--soft); }

.command { margin-top: 1rem; color: var(--soft); }
.command code { background: var(--raised); color: var(--ink); border-radius: 4px; padding: 0.25rem 0.5rem; user-select: all; }

.delete, .failed, .missing, .to-prune { --tint: var(--red); --wash: var(--red-wash); }
.create, .applied { --tint: var(--green); --wash: var(--green-wash); }
.update, .adopt, .take-over, .drifted, .drifted-and-pending, .skipped { --tint: var(--amber); --wash: var(--amber-wash); }
.replace, .differs, .unowned { --tint: var(--violet); --wash: var(--violet-wash); }
.adopt, .take-over, .pending { --tint: var(--blue); --wash: var(--blue-wash); }
.no-op, .in-sync { --tint: var(--edge); --wash: var(--raised); }
.counts li, .glyph, .word { color: var(--tint); }
.counts li.zero { color: var(--line); }

.message { background: var(--sheet); border: 1px solid var(--line); border-left: 4px solid var(--tint); border-radius: 6px; padding: 0.75rem 1rem; }
.message + .message { margin-top: 0.5rem; }
.message.error { --tint: var(--red); --wash: var(--red-wash); }
.message.warning { --tint: var(--amber); --wash: var(--amber-wash); }
.message p + p { margin-top: 0.25rem; }
.headline { font-weight: 600; max-width: 95ch; }
.label { color: var(--tint); background: var(--wash); border-radius: 4px; padding: 0 0.375rem; margin-right: 0.25rem; font-size: 0.8125rem; }
.where, .related { color: var(--soft); }
.remedy { max-width: 95ch; }
.remedy::before { content: "\\2192\\a0"; color: var(--soft); }
.addresses { columns: 18rem; list-style: none; margin: 0.375rem 0; }
figure { margin: 0.5rem 0; }
.stack { border-top: 2px solid var(--line); padding-top: 1rem; }
.stack > h2 { font-size: 1.25rem; }
.stack > .said { margin-top: -0.375rem; font-weight: 600; }
.stack section { margin-top: 1rem; }
figcaption { color: var(--soft); }
pre { margin: 0.25rem 0 0; padding: 0.5rem 0.75rem; background: var(--raised); border-radius: 5px; overflow-x: auto; overflow-wrap: normal; }

.filter {
  position: sticky; top: 0; z-index: 2; display: grid; grid-template-columns: minmax(12rem, 1fr) auto auto; gap: 0.5rem 1rem; align-items: center;
  margin: 1.5rem -0.75rem 0; padding: 0.5rem 0.75rem; background: var(--page); border-bottom: 1px solid var(--line); max-height: 40vh; overflow-y: auto;
}
.filter input { width: 100%; background: var(--sheet); border: 1px solid var(--edge); border-radius: 6px; padding: 0.25rem 0.75rem; }
.filter input::placeholder { color: var(--soft); opacity: 1; }
.filter fieldset { grid-column: 1 / -1; border: 0; min-width: 0; display: flex; flex-wrap: wrap; gap: 0.375rem; align-items: center; }
.filter legend { float: left; width: 3.4rem; color: var(--soft); font-size: 0.8125rem; padding: 0; }
.filter .acts { display: flex; gap: 0.375rem; }
.status { color: var(--soft); font-size: 0.8125rem; }
.status.narrowed { color: var(--ink); font-weight: 600; }

.items { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.item { border-left: 3px solid var(--tint); }
.many .item { content-visibility: auto; contain-intrinsic-size: auto 3.6rem; }
.item + .item { border-top: 1px solid var(--line); }
.item:target { background: var(--wash); }
.item > summary, .item > .head {
  display: grid; grid-template-columns: 1rem minmax(10rem, 1fr) fit-content(45%); gap: 0 0.5rem; align-items: baseline; padding: 0.5rem 1rem 0.5rem 0.75rem;
}
.item > summary { cursor: pointer; list-style: none; }
.item > summary::-webkit-details-marker { display: none; }
.item > summary:hover { background: var(--raised); }
.item > summary:focus-visible { outline-offset: -2px; }
.item .glyph { font: 700 1rem/1.4 var(--mono); text-align: center; }
.item .kind { font-weight: 400; color: var(--soft); }
.item .what { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; }
.item .said { font-size: 0.875rem; color: var(--soft); }
.item .word { font-weight: 600; }
.item .side { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0 0.5rem; align-items: baseline; color: var(--soft); grid-row: 1; grid-column: 3; }
.item .size { font-size: 0.8rem; white-space: nowrap; }
.item > summary .size::after { content: ""; display: inline-block; margin-left: 0.5rem; width: 0.4rem; height: 0.4rem; border: solid var(--soft); border-width: 0 1.5px 1.5px 0; transform: translateY(-0.15rem) rotate(45deg); }
.item[open] > summary .size::after { transform: translateY(0.05rem) rotate(225deg); }
.badge { border: 1px solid var(--edge); border-radius: 4px; font-size: 0.75rem; padding: 0 0.375rem; color: var(--ink); white-space: nowrap; }
.body { padding: 0.125rem 1rem 0.75rem 2.25rem; }
.body p { font-size: 0.875rem; }
.body p + table { margin-top: 0.25rem; }
.body .rest { color: var(--soft); font-size: 0.8125rem; padding-top: 0.25rem; }

table { border-collapse: collapse; width: 100%; text-align: left; }
.fields { font: 0.8125rem/1.5 var(--mono); table-layout: fixed; }
.fields th, .fields td { padding: 0.125rem 0.75rem 0.125rem 0; vertical-align: top; font-weight: 400; }
.fields tr + tr > * { border-top: 1px solid color-mix(in srgb, var(--line) 60%, transparent); }
.fields th { width: 21rem; color: var(--soft); }
.detail { color: var(--ink); font: 0.75rem/1.4 var(--sans); background: var(--raised); border-radius: 4px; padding: 0 0.375rem; display: inline-block; }
.forces .detail { background: var(--violet-wash); color: var(--violet); }
del, ins { text-decoration: none; border-radius: 3px; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
del { background: var(--red-wash); color: var(--red); padding: 0 0.25rem; }
ins { background: var(--green-wash); color: var(--green); padding: 0 0.25rem; }
.arrow { color: var(--soft); }
.lines { border-radius: 5px; overflow: hidden; }
.lines > * { display: block; white-space: pre-wrap; padding: 0 0.375rem 0 2.6ch; text-indent: -1.8ch; border-radius: 0; }
.lines > i { font-style: normal; color: var(--soft); }

.list { list-style: none; background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; }
.list li { padding: 0.375rem 1rem; }
.list li + li { border-top: 1px solid var(--line); }
.list.dangers { border-left: 4px solid var(--red); }
.danger { color: var(--red); }
.grid { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; font-size: 0.875rem; border-collapse: separate; border-spacing: 0; }
.grid th, .grid td { padding: 0.375rem 0.75rem; vertical-align: top; font-weight: 400; border-top: 1px solid var(--line); }
.grid thead th { color: var(--soft); font-size: 0.75rem; border-top: 0; }
.requests > summary { cursor: pointer; margin-bottom: 0.5rem; }
.requests > summary h2 { display: inline; }

@media (max-width: 44rem) {
  body { padding: 1rem 1rem 3rem; }
  .filter { position: static; grid-template-columns: 1fr; max-height: none; }
  .counts { gap: 0.5rem 1.25rem; }
  .filter legend { float: none; width: auto; }
  .item > summary, .item > .head { grid-template-columns: 1rem 1fr; }
  .item .side { grid-row: auto; grid-column: 2; flex-wrap: wrap; justify-content: space-between; }
  .body { padding-left: 1rem; }
  .fields, .fields tbody, .fields tr, .fields th, .fields td, .grid, .grid tbody, .grid tr, .grid th, .grid td { display: block; width: auto; }
  .fields th, .fields td { padding-right: 0; }
  .fields tr + tr > td { border-top: 0; }
  .grid thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .grid tr { padding: 0.375rem 0; border-top: 1px solid var(--line); }
  .grid th, .grid td { border: 0; padding: 0 0.75rem; }
}

@media print {
  :root, :root[data-theme="dark"] { color-scheme: light; --page: #fff; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .theme, .skip, .filter input, .filter fieldset, .filter .acts { display: none !important; }
  .filter { position: static; border: 0; padding: 0; margin: 0.75rem 0 0; }
  .status:not(.narrowed) { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .many .item { content-visibility: visible; }
  .items, .list, .grid { overflow: visible; }
  .item > summary, .item > .head, tr, .message { break-inside: avoid; }
  .item > summary, h2 { break-after: avoid; }
  .item > summary .size::after { display: none; }
  pre { white-space: pre-wrap; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
@media (forced-colors: active) { .filter button[aria-pressed="true"] { outline: 2px solid; } }
`;
