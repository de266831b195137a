import { describeShare } from './share.ts';

describeShare(1);
