/**
 * Ids that the services of tests know in addition to their own resources: every well-formed id of these kinds, which edgewise cannot create.
 * They are listed, so that they still exist when edgewise learns to create one of the kinds.
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
