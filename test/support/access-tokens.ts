import { Client } from './client.js';
import { replyOf, type World } from './world.js';

/** A new token, which its owner sees only once. */
export type MadeToken = Readonly<{ id: string; token: string; client: Client }>;

/** The fields of a new token. A missing field has its default. */
export type TokenFields = Readonly<{
  scopes: readonly string[];
  resource_filter?: Readonly<Record<string, readonly string[]>>;
  name?: string;
  expires_in_days?: number;
}>;

let made = 0;

export const bearerOf = (url: string, token: string): Client => new Client(url, { authorization: `Bearer ${token}` });

/** Makes a token, by default for Alice, and a client that uses it. */
export async function tokenFor({ alice }: Pick<World, 'alice'>, fields: TokenFields, owner = alice): Promise<MadeToken> {
  const { status, body, text } = await replyOf(owner.post('/api/user/tokens', { name: `Token ${++made}`, ...fields }));
  if (status !== 201) throw new Error(`No token: ${status} ${text}`);
  const { token, personal_access_token } = body as { token: string; personal_access_token: { id: string } };
  return { id: personal_access_token.id, token, client: bearerOf(owner.url, token) };
}
