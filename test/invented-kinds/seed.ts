import { EXTERNAL_IDS } from '../external-ids.ts';

/** The existing ids to which the invented kinds refer and that edgewise does not create. */
export const SEED = { externals: [...EXTERNAL_IDS, 'anchor_*', 'buoy_*', 'chart_*', 'horn_*', 'water_*'] } as const;
