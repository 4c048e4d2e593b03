import { createHash } from 'node:crypto';
import type { Fingerprints } from './fingerprints.js';

/** The token of a link, an HMAC of its id. The service can show it to the owner again, and it cannot be derived without the secret. */
export const linkTokenOf = (fingerprints: Fingerprints, kind: 'agent-link' | 'conversation-link', linkId: string): string =>
  fingerprints.of(kind, linkId);

const LINK_TOKEN = /^[0-9a-f]{64}$/;

export const isLinkToken = (text: string): boolean => LINK_TOKEN.test(text);

/** The hash of a link's token, which the log and the read models hold in its place. */
export const linkTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');
