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
      const [row] = await this.sql<PromptRecord[]>`select ${this.columns} from prompts.prompt where prompt_id = ${promptId}`;
      return row;
    });
  }

  /** The prompts with these ids that exist, oldest first. */
  async among(ids: readonly string[]): Promise<readonly PromptRecord[]> {
    if (ids.length === 0) return [];
    return this.sql<PromptRecord[]>`
      select ${this.columns} from prompts.prompt where prompt_id = any (${ids as string[]}::text[]) order by created_at, prompt_id`;
  }

  /** A user's own prompts, oldest first, without those of unfinished imports. */
  async ownedBy(userId: string): Promise<readonly PromptRecord[]> {
    return this.sql<
      PromptRecord[]
    >`select ${this.columns} from prompts.prompt where owner_id = ${userId} and import_id is null order by created_at, prompt_id`;
  }

  private get columns() {
    return this.sql`prompt_id as id, owner_id as "ownerId", name, content, created_at as "createdAt", updated_at as "updatedAt"`;
  }
}
