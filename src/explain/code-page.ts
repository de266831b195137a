import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../model/diagnostic-codes.ts';
import { type Example, type Meanwhile, toFileText, toMendedExample, toSeedText } from './explanation.ts';
import { EXPLANATIONS } from './explanations.ts';
import OUTPUTS from './outputs.json' with { type: 'json' };

/** All there is to show of a diagnostic code. */
export interface CodePage {
  readonly about: 'code';
  readonly code: DiagnosticCode;
  readonly sentence: string;
  readonly meaning: string;
  readonly remedy: string;
  readonly example: ShownExample & { readonly output: string };
  /** The parts that differ in the corrected example. */
  readonly mended: ShownExample;
}

/** An example, or the parts that differ in the corrected one. `seed` is what the service holds. */
export interface ShownExample {
  readonly command: string;
  readonly files: readonly ShownFile[];
  readonly removed: readonly string[];
  readonly seed?: string;
  readonly meanwhile?: Meanwhile;
}

/** A file with its text. */
export interface ShownFile {
  readonly name: string;
  readonly text: string;
  /** Where it is not UTF-8. */
  readonly encoding?: string;
}

/** What each example prints. Written by `npm run docs`; a code that is missing there does not compile. */
const TEXTS: Readonly<Record<DiagnosticCode, string>> = OUTPUTS;

/** The page of a diagnostic code. */
export function toCodePage(code: DiagnosticCode): CodePage {
  const explanation = EXPLANATIONS[code];
  const { meaning, remedy, bad } = explanation;
  const mended = toMendedExample(explanation);
  return {
    about: 'code',
    code,
    sentence: DIAGNOSTIC_CODES[code],
    meaning,
    remedy,
    example: { ...show(bad), output: TEXTS[code] },
    mended: toDifference(bad, mended),
  };
}

function show({ command, files, live, meanwhile }: Example): ShownExample {
  return {
    command,
    files: Object.entries(files).map(([name, file]) => ({
      name,
      text: toFileText(file),
      ...(typeof file !== 'string' && { encoding: 'ISO-8859-1' }),
    })),
    removed: [],
    ...(live !== undefined && { seed: toSeedText(live) }),
    ...(meanwhile !== undefined && { meanwhile }),
  };
}

/** The parts of the corrected example that differ. */
function toDifference(bad: Example, mended: Example): ShownExample {
  const { seed, meanwhile: _, ...rest } = show(mended);
  return {
    ...rest,
    files: rest.files.filter(({ name }) => bad.files[name] !== mended.files[name]),
    removed: Object.keys(bad.files).filter((name) => mended.files[name] === undefined),
    ...(seed !== undefined && bad.live !== mended.live && { seed }),
  };
}
