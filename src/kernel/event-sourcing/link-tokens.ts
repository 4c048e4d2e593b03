import { createHash } from 'node:crypto';
import type { Fingerprints } from './fingerprints.js';

/** The token of a link: an HMAC of its id, so that its owner sees it again and nobody derives it without the secret of the service. */
export const linkTokenOf = (fingerprints: Fingerprints, kind: 'agent-link' | 'conversation-link', linkId: string): string =>
  fingerprints.of(kind, linkId);

const LINK_TOKEN = /^[0-9a-f]{64}$/;

export const isLinkToken = (text: string): boolean => LINK_TOKEN.test(text);

/** What the log and the read models hold of the token of a link. */
export const linkTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');
