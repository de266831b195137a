import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, type Diagnostic as Mark, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state';
import { EditorView, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Diagnostic } from 'edgewise';
import schema from '../../schemas/manifest.schema.json';
import { describe, findPlace, listWords, type Schema } from './schema.ts';

/** The editor of manifests: YAML, with what the published schema knows of each place, and diagnostics where they belong. */

const ROOT = schema as unknown as Schema;

const COLORS = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
]);

function complete(context: CompletionContext) {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const [, start = '', key, written = ''] = /^(\s*(?:- +)?)(?:([\w./-]+):\s+)?(?:- +)?(\S*)$/.exec(before) ?? [];
  if (written === '' && !context.explicit) return null;
  const place = findPlace(toLines(context.state.doc), line.number - 1, start.length);
  const words =
    key === undefined
      ? listWords(ROOT, place, 'keys')
      : listWords(ROOT, { ...place, path: [...place.path, key] }, 'values');
  const from = context.pos - written.length;
  return {
    from,
    options: words.map((word) => ({ ...word, apply: key === undefined ? `${word.label}: ` : word.label })),
  };
}

const toLines = (text: Text): readonly string[] => text.toString().split('\n');

const explain = hoverTooltip((view, at) => {
  const line = view.state.doc.lineAt(at);
  const [whole = '', start = '', key = ''] = /^(\s*(?:- +)*)([\w./-]+)(?=\s*:)/.exec(line.text) ?? [];
  if (key === '' || at > line.from + whole.length || at < line.from + start.length) return null;
  const { kind, path } = findPlace(toLines(view.state.doc), line.number - 1, start.length);
  const said = describe(ROOT, { kind, path: [...path, key] });
  if (said === '') return null;
  const create = () => {
    const dom = document.createElement('div');
    dom.className = 'cm-diagnosticText';
    dom.textContent = said;
    return { dom };
  };
  return { pos: line.from + start.length, end: line.from + whole.length, above: true, create };
});

/** What the editor says about a place of a file: a diagnostic, or advice. */
export interface Remark extends Pick<Diagnostic, 'message' | 'remedy' | 'place'> {
  readonly severity: Diagnostic['severity'] | 'info';
}

/** An editor of one text at a time. */
export interface Editor {
  readonly show: (file: string, text: string) => void;
  /** Underlines what is wrong with the text that is shown. */
  readonly mark: (remarks: readonly Remark[]) => void;
  /** Scrolls to a line, which counts from 1. */
  readonly reveal: (line: number) => void;
  /** Puts the cursor at a position, which counts from 1. */
  readonly focus: (line: number, column: number) => void;
}

/** Nobody writes longer lines. Coloring them keeps a page busy: 100,000 brackets are as many nested lists. */
const MAX_COLORED_LINE = 5_000;
const [LANGUAGE, YAML, NO_LANGUAGE] = [new Compartment(), yaml(), [] as Extension];
const chooseLanguage = (lines: Iterable<string>) =>
  Array.from(lines).some(({ length }) => length > MAX_COLORED_LINE) ? NO_LANGUAGE : YAML;

/** Puts an editor into an element. `onChange` gets each text that a person typed. */
export function createEditor(parent: HTMLElement, onChange: (text: string) => void): Editor {
  let isShowing = false;
  const extensions = [
    lineNumbers(),
    history(),
    EditorState.transactionExtender.of(({ startState, newDoc }) => {
      const language = chooseLanguage(newDoc.iterLines());
      return language === LANGUAGE.get(startState) ? null : { effects: LANGUAGE.reconfigure(language) };
    }),
    syntaxHighlighting(COLORS),
    autocompletion({ override: [complete] }),
    explain,
    lintGutter(),
    EditorView.lineWrapping,
    // Tab moves on, as everywhere in a page: it is no trap for those who use the keyboard alone.
    keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': 'Manifest', tabindex: '0' }),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged && !isShowing) onChange(state.doc.toString());
    }),
  ];
  const view = new EditorView({ parent });
  let shown = '';
  return {
    show: (file, text) => {
      isShowing = true;
      shown = file;
      const language = LANGUAGE.of(chooseLanguage(text.split('\n')));
      view.setState(EditorState.create({ doc: text, extensions: [...extensions, language] }));
      isShowing = false;
    },
    mark: (remarks) => {
      const marks = remarks.flatMap((one) => (one.place?.file === shown ? toMark(view.state.doc, one, one.place) : []));
      view.dispatch(setDiagnostics(view.state, marks));
    },
    reveal: (line) => {
      const { from } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      view.dispatch({ effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    },
    focus: (line, column) => {
      const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      view.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true });
      view.focus();
    },
  };
}

function toMark(text: Text, { severity, message, remedy }: Remark, place: NonNullable<Remark['place']>): Mark[] {
  if (place.line > text.lines) return [];
  const line = text.line(place.line);
  const from = Math.min(line.from + place.column - 1, line.to);
  const [word = ''] = /^[^\s:,\]}]+/.exec(text.sliceString(from, line.to)) ?? [];
  return [
    { from, to: from + word.length, severity, message: remedy === undefined ? message : `${message}\n${remedy}` },
  ];
}
