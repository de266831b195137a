import { EXTERNAL_IDS } from '../external-ids.ts';

/** What exists where the stranger's kinds live: the ids that its tables refer to and that edgewise does not create. */
export const SEED = { externals: [...EXTERNAL_IDS, 'anchor_*', 'buoy_*', 'chart_*', 'horn_*', 'water_*'] } as const;
