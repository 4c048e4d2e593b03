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
    const [row] = await this.sql<
      AccessTokenRecord[]
    >`select ${this.columns} from access_tokens.access_token where hash = ${hash}`;
    return row;
  }

  /** A user's tokens, the oldest first. */
  async ownedBy(userId: string): Promise<readonly AccessTokenRecord[]> {
    return this.sql<
      AccessTokenRecord[]
    >`select ${this.columns} from access_tokens.access_token where owner_id = ${userId} order by created_at, token_id`;
  }

  private get columns() {
    return this.sql`token_id as id, owner_id as "ownerId", name, prefix, scopes, resources, created_at as "createdAt",
      expires_at as "expiresAt"`;
  }
}
