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
    const rows = await this.sql<ModelRow[]>`
      select ${this.columns} from custom_models.custom_model where model_id = ${modelId}`;
    return rows.map(asRecord)[0];
  }

  /** A user's own models, oldest first, without those of unfinished imports. */
  async ownedBy(ownerId: string): Promise<readonly CustomModelRecord[]> {
    const rows = await this.sql<ModelRow[]>`
      select ${this.columns} from custom_models.custom_model where owner_id = ${ownerId} and import_id is null
      order by created_at, model_id`;
    return rows.map(asRecord);
  }

  async countOf(ownerId: string): Promise<number> {
    const rows = await this.sql`select count(*)::integer as n from custom_models.custom_model where owner_id = ${ownerId}`;
    return rows[0]!['n'] as number;
  }

  private get columns() {
    return this.sql`model_id as id, owner_id as "ownerId", created_at as "createdAt", updated_at as "updatedAt",
      display_name as "displayName", description, upstream_model_id as "upstreamModelId", base_url as "baseUrl",
      credentials_id as "credentialsId", capabilities, enabled`;
  }
}

type ModelRow = Omit<CustomModelRecord, 'definition'> & CustomModelDefinition;

const asRecord = ({ id, ownerId, createdAt, updatedAt, ...definition }: ModelRow): CustomModelRecord => ({
  id,
  ownerId,
  definition,
  createdAt,
  updatedAt,
});
