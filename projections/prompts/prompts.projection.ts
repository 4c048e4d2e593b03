import { promptCodec } from '../../src/resources/prompts/prompt.codec.js';
import type { PromptEvent } from '../../src/resources/prompts/prompt.events.js';
import { defineProjection } from '../projection.js';
import { asText } from '../text.js';

/** Every prompt there is, as it reads now. */
export const prompts = defineProjection<PromptEvent>({
  name: 'prompts',
  categories: ['prompt'],
  codec: promptCodec,
  ddl: new URL('./prompts.sql', import.meta.url),

  on: {
    PromptCreated: ({ data }, sql) => sql`
      insert into prompt (prompt_id, owner_id, name, content, created_at, updated_at)
      values (${data.promptId}, ${data.ownerId}, ${asText(data.name)}, ${asText(data.content)}, ${data.createdAt}, ${data.createdAt})
      on conflict (prompt_id) do nothing`,

    PromptUpdated: ({ data }, sql) => sql`
      update prompt
      set name = coalesce(${textOrNull(data.name)}, name), content = coalesce(${textOrNull(data.content)}, content), updated_at = ${data.updatedAt}
      where prompt_id = ${data.promptId}`,

    PromptDeleted: ({ data }, sql) => sql`delete from prompt where prompt_id = ${data.promptId}`,
  },
});

const textOrNull = (text: string | undefined) => (text === undefined ? null : asText(text));
