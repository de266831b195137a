import { field, idOf, moduleOf, refTo, setOf } from '../field.ts';
import { defineKind } from '../kind.ts';

export const HTTPS_EDGE = defineKind({
  name: 'HTTPSEdge',
  role: 'attached',
  title: 'HTTPS edge',
  description:
    'Modules on an existing HTTPS edge. The document is the whole truth about these modules. Removing the document leaves them unchanged.',
  idPrefix: 'edghts',
  path: '/edges/https/{id}',
  fields: {
    id: field(idOf('edghts'), 'Id of the HTTPS edge.', { lifecycle: 'immutable', required: true, unique: true }),
    mutual_tls: field(
      moduleOf({
        certificate_authority_ids: field(
          setOf(refTo('ca')),
          'The certificate authorities used to validate the TLS client certificate.',
          { required: true, responseName: 'certificate_authorities', protects: 'but-each' },
        ),
      }),
      'Mutual TLS module: which client certificates are accepted.',
      { clear: 'delete', hasPath: true, protects: 'while-on' },
    ),
  },
});
