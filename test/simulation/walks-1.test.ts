import { describeWalkShare } from './walk-shares.ts';

describeWalkShare(0);
