import { Queries } from '../read-models.js';
import { asText } from '../text.js';

/** A prompt in a list, without its text. */
export type ListedPrompt = Readonly<{ id: string; ownerId: string; name: string; createdAt: Date; updatedAt: Date }>;

export type PromptRecord = ListedPrompt & Readonly<{ content: string }>;

export class PromptQueries extends Queries {
  async byId(promptId: string): Promise<PromptRecord | undefined> {
    return this.readModels.remembered('prompts', `id ${promptId}`, async () => {
      const [row] = await this.sql<PromptRecord[]>`
        select ${this.columns}, content from prompts.prompt where prompt_id = ${promptId}`;
      return row;
    });
  }

  /** The prompts with these ids that exist, oldest first. */
  async among(ids: readonly string[]): Promise<readonly ListedPrompt[]> {
    if (ids.length === 0) return [];
    return this.sql<ListedPrompt[]>`
      select ${this.columns} from prompts.prompt where prompt_id = any (${ids as string[]}::text[]) order by created_at, prompt_id`;
  }

  /** A user's own prompts, oldest first, without those of unfinished imports. */
  async ownedBy(userId: string): Promise<readonly ListedPrompt[]> {
    return this.sql<ListedPrompt[]>`
      select ${this.columns} from prompts.prompt where owner_id = ${userId} and import_id is null order by created_at, prompt_id`;
  }

  /** The ids of a user's own prompts with this name and text, oldest first, without those of unfinished imports. */
  async equalTo(userId: string, { name, content }: Readonly<{ name: string; content: string }>): Promise<readonly string[]> {
    const rows = await this.sql<{ id: string }[]>`
      select prompt_id as id from prompts.prompt
      where owner_id = ${userId} and import_id is null and name = ${asText(name)} and content = ${asText(content)}
      order by created_at, prompt_id`;
    return rows.map(({ id }) => id);
  }

  private get columns() {
    return this.sql`prompt_id as id, owner_id as "ownerId", name, created_at as "createdAt", updated_at as "updatedAt"`;
  }
}
