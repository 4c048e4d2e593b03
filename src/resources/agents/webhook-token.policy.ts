import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

export const newWebhookToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** The hash by which a webhook is looked up. The lookup is exact, and the token itself is not stored in the index. */
export const webhookTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');
