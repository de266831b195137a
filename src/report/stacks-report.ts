import type { FormOptions, Report } from './report.ts';

/** What a run over many stacks has to show. */
export interface StacksReport {
  readonly command: string;
  /** The folder that the stacks are in. */
  readonly root: string;
  /** How many stacks there are, and which of them were meant, in a sentence. */
  readonly selection: string;
  /** What reading took, of all accounts; absent: it is not known. */
  readonly requests?: number;
  /** By folder. */
  readonly parts: readonly StackPart[];
}

/** What a run has to show of one stack. */
export interface StackPart {
  readonly name: string;
  readonly folder: string;
  /** The variable with the key of its account, where its Stack names one. */
  readonly keyEnv?: string;
  /** What the command would end with for this stack alone. */
  readonly exitCode: number;
  readonly report: Report;
  readonly options: Pick<FormOptions, 'locate' | 'applyCommand' | 'isAccountTold'>;
}

/** A form of a run over many stacks: a whole document that ends with a line break. */
export type StacksForm = (run: StacksReport, options: FormOptions) => string;
