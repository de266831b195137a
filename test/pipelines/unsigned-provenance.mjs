import Module from 'node:module';

/**
 * Given to npm with `--import`. npm makes the statement of a provenance itself, from the variables of the job; only its signature is left out, which
 * needs GitHub and Sigstore.
 */
const load = Module._load;
const sigstore = {
  attest: async (payload, payloadType) => ({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { tlogEntries: [] },
    dsseEnvelope: { payload: payload.toString('base64'), payloadType, signatures: [] },
  }),
};

Module._load = function loadUnsigned(name, ...rest) {
  return name === 'sigstore' ? sigstore : load.call(this, name, ...rest);
};
