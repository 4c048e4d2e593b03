import type { Row } from 'postgres';
import type { CustomModelDefinition } from '../../src/resources/models/custom/custom-model.events.js';
import { Queries } from '../read-models.js';

/** The current definition of a custom model. */
export type CustomModelRecord = Readonly<{
  id: string;
  ownerId: string;
  definition: CustomModelDefinition;
  createdAt: Date;
  updatedAt: Date;
}>;

export class CustomModelQueries extends Queries {
  async byId(modelId: string): Promise<CustomModelRecord | undefined> {
    const rows = await this.sql`select * from custom_models.custom_model where model_id = ${modelId}`;
    return rows.map(asRecord)[0];
  }

  /** A user's own models, oldest first, without those of unfinished imports. */
  async ownedBy(ownerId: string): Promise<readonly CustomModelRecord[]> {
    const rows = await this.sql`
      select * from custom_models.custom_model where owner_id = ${ownerId} and import_id is null order by created_at, model_id`;
    return rows.map(asRecord);
  }

  async countOf(ownerId: string): Promise<number> {
    const rows = await this.sql`select count(*)::integer as n from custom_models.custom_model where owner_id = ${ownerId}`;
    return rows[0]!['n'] as number;
  }
}

const asRecord = (row: Row): CustomModelRecord => ({
  id: row['model_id'] as string,
  ownerId: row['owner_id'] as string,
  definition: {
    displayName: row['display_name'] as string,
    description: row['description'] as string,
    upstreamModelId: row['upstream_model_id'] as string,
    baseUrl: row['base_url'] as string,
    credentialsId: row['credentials_id'] as string,
    capabilities: row['capabilities'] as CustomModelDefinition['capabilities'],
    enabled: row['enabled'] as boolean,
  },
  createdAt: row['created_at'] as Date,
  updatedAt: row['updated_at'] as Date,
});
