import type { Row } from 'postgres';
import { Queries } from '../read-models.js';

export type PromptRecord = Readonly<{
  id: string;
  ownerId: string;
  name: string;
  content: string;
  createdAt: Date;
  updatedAt: Date;
}>;

export class PromptQueries extends Queries {
  async byId(promptId: string): Promise<PromptRecord | undefined> {
    return this.readModels.remembered('prompts', `id ${promptId}`, async () => {
      const rows = await this.sql`select * from prompts.prompt where prompt_id = ${promptId}`;
      return rows.map(asRecord)[0];
    });
  }

  /** The prompts with these ids that exist, oldest first. */
  async among(ids: readonly string[]): Promise<readonly PromptRecord[]> {
    if (ids.length === 0) return [];
    const rows = await this.sql`
      select * from prompts.prompt where prompt_id = any (${ids as string[]}::text[]) order by created_at, prompt_id`;
    return rows.map(asRecord);
  }

  /** A user's own prompts, oldest first, without those of unfinished imports. */
  async ownedBy(userId: string): Promise<readonly PromptRecord[]> {
    const rows =
      await this.sql`select * from prompts.prompt where owner_id = ${userId} and import_id is null order by created_at, prompt_id`;
    return rows.map(asRecord);
  }
}

const asRecord = (row: Row): PromptRecord => ({
  id: row['prompt_id'] as string,
  ownerId: row['owner_id'] as string,
  name: row['name'] as string,
  content: row['content'] as string,
  createdAt: row['created_at'] as Date,
  updatedAt: row['updated_at'] as Date,
});
