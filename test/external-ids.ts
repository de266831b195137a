/**
 * The ids that the services of tests know besides those of their own resources: every well-formed one of these kinds, which edgewise cannot
 * create. Stated, so that they still exist when edgewise learns to create one of the kinds.
 */
export const EXTERNAL_IDS: readonly string[] = [
  'bkdhr_*',
  'bkdtg_*',
  'bot_*',
  'ca_*',
  'edghts_*',
  'edghtsrt_*',
  'ipp_*',
  'sshca_*',
  'usr_*',
];
