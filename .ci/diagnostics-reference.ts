import { EXPLANATIONS } from '../src/explain/explanations.ts';
import { DIAGNOSTIC_CODES, type DiagnosticCode } from '../src/model/diagnostic-codes.ts';

/** The part of docs/diagnostics.md that says of every code what it means and what to do. The examples are left to `explain`. */
export function renderDiagnosticsReference(): string {
  const codes = Object.keys(DIAGNOSTIC_CODES) as DiagnosticCode[]; // the keys of a constant table
  const list = codes.map((code) => `| [\`${code}\`](#${code}) | ${DIAGNOSTIC_CODES[code]} |`);
  return [['| Code | What it says |', '| --- | --- |', ...list].join('\n'), ...codes.map(renderCode)].join('\n\n');
}

function renderCode(code: DiagnosticCode): string {
  const { meaning, remedy } = EXPLANATIONS[code];
  return [`## ${code}`, `${DIAGNOSTIC_CODES[code]} ${meaning}`, `**What to do.** ${remedy}`].join('\n\n');
}
