import { ANSWERS, describeQuestions } from '../installed/questions.ts';

describeQuestions(() => ANSWERS);
