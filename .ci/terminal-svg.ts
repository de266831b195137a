import { countColumns } from '../src/report/view/escape.ts';

/** Renders terminal output as a picture: text with the colours of `styleText`, on a dark background. */

const FONT_SIZE = 14;
/** Each character is positioned, so that the picture does not depend on the font. */
const COLUMN_WIDTH = 8.4;
const LINE_HEIGHT = 20;
const MARGIN = 18;
const BAR_HEIGHT = 34;

const COLORS: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#e3b341',
  '35': '#d2a8ff',
  '36': '#76e3ea',
};

/** Text in one style. */
interface Run {
  readonly text: string;
  readonly column: number;
  readonly look: TextStyle;
}

interface TextStyle {
  readonly color?: string | undefined;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
}

/** Renders an SVG of lines that contain only text and colours. `title` describes the picture for screen readers. */
export function renderTerminalSvg(output: string, title: string): string {
  const lines = toLines(output);
  const columns = Math.max(...lines.map((runs) => toWidth(runs)));
  const width = Math.ceil(columns * COLUMN_WIDTH + 2 * MARGIN);
  const height = BAR_HEIGHT + lines.length * LINE_HEIGHT + MARGIN;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, index) => `<circle cx="${MARGIN + 6 + index * 20}" cy="17" r="6" fill="${color}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${toEscaped(title)}</title>
<style>
text { font: ${FONT_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }
.bold { font-weight: 600; }
.dim { fill-opacity: 0.65; }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117" stroke="#30363d"/>
${dots.join('')}
${lines.map((runs, index) => renderLine(runs, BAR_HEIGHT + (index + 1) * LINE_HEIGHT - 6)).join('')}</svg>
`;
}

function renderLine(runs: readonly Run[], y: number): string {
  const spans = runs
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, column, look }) => {
      const classes = [...(look.isBold ? ['bold'] : []), ...(look.isDim ? ['dim'] : [])];
      const x = toNumber(MARGIN + column * COLUMN_WIDTH);
      const width = toNumber(countColumns(text) * COLUMN_WIDTH);
      const fill = look.color === undefined ? '' : ` style="fill:${look.color}"`;
      const name = classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
      return `<tspan x="${x}" textLength="${width}"${name}${fill}>${toEscaped(text)}</tspan>`;
    });
  return spans.length === 0 ? '' : `<text y="${y}" xml:space="preserve">${spans.join('')}</text>\n`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are such sequences
const SEQUENCE = /\u001b\[(\d+)m/g;

function toLines(output: string): readonly (readonly Run[])[] {
  let look: TextStyle = {};
  return output
    .trimEnd()
    .split('\n')
    .map((line) => {
      const runs: Run[] = [];
      let [at, column] = [0, 0];
      const add = (text: string): void => {
        if (text !== '') runs.push({ text, column, look });
        column += countColumns(text);
      };
      for (const match of line.matchAll(SEQUENCE)) {
        add(line.slice(at, match.index));
        at = match.index + match[0].length;
        look = applySequence(look, match[1] ?? '');
      }
      add(line.slice(at));
      return runs;
    });
}

/** Source: ECMA-48, 8.3.117. */
function applySequence(look: TextStyle, code: string): TextStyle {
  if (code === '0') return {};
  if (code === '1') return { ...look, isBold: true };
  if (code === '2') return { ...look, isDim: true };
  if (code === '22') return { ...look, isBold: false, isDim: false };
  if (code === '39') return { ...look, color: undefined };
  const color = COLORS[code];
  if (color === undefined) throw new TypeError(`The picture of a terminal has no look for the code ${code}.`);
  return { ...look, color };
}

function toWidth(runs: readonly Run[]): number {
  const last = runs.at(-1);
  return last === undefined ? 0 : last.column + countColumns(last.text);
}

function toNumber(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function toEscaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
