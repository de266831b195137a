import { describeWalks } from './walk-shares.ts';

describeWalks(1);
