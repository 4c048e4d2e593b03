/** The subject of signals that a credential may have ended. The payload is its id. */
export const CREDENTIAL_ENDED = 'credential.ended';
