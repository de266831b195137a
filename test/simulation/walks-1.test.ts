import { describeWalks } from './share.ts';

describeWalks(0);
