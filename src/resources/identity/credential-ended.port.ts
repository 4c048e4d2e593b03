/** The subject of the signal that a credential may have ended. Its payload is the id of the credential. */
export const CREDENTIAL_ENDED = 'credential.ended';
