import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

export const newWebhookToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** What a token is found by: exact bytes, never the token itself. */
export const webhookTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');
