import { ANSWERS, describeQuestions, QUESTIONS } from '../installed/questions.ts';
import { selectEvenly } from '../tries.ts';

/** Each response to each question, or a quarter of them. */
const PAIRS = selectEvenly(QUESTIONS.flatMap(({ line }) => ANSWERS.map((answer) => ({ line, answer }))));

describeQuestions((line) => PAIRS.filter((pair) => pair.line === line).map(({ answer }) => answer));
