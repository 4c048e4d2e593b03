import type { Row } from 'postgres';
import type { Scope } from '../../src/kernel/access.js';
import type { TokenResources } from '../../src/resources/identity/tokens/access-tokens.events.js';
import { Queries } from '../read-models.js';

export type AccessTokenRecord = Readonly<{
  id: string;
  ownerId: string;
  name: string;
  prefix: string;
  scopes: readonly Scope[];
  resources: TokenResources;
  createdAt: Date;
  expiresAt: Date | null;
}>;

export class AccessTokenQueries extends Queries {
  async byHash(hash: string): Promise<AccessTokenRecord | undefined> {
    const rows = await this.sql`select * from access_tokens.access_token where hash = ${hash}`;
    return rows.map(asRecord)[0];
  }

  /** A user's tokens, the oldest first. */
  async ownedBy(userId: string): Promise<readonly AccessTokenRecord[]> {
    const rows =
      await this.sql`select * from access_tokens.access_token where owner_id = ${userId} order by created_at, token_id`;
    return rows.map(asRecord);
  }
}

const asRecord = (row: Row): AccessTokenRecord => ({
  id: row['token_id'] as string,
  ownerId: row['owner_id'] as string,
  name: row['name'] as string,
  prefix: row['prefix'] as string,
  scopes: row['scopes'] as readonly Scope[],
  resources: row['resources'] as TokenResources,
  createdAt: row['created_at'] as Date,
  expiresAt: row['expires_at'] as Date | null,
});
