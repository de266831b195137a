import { describeShare } from './share.ts';

describeShare(2);
