import type { TransactionSql } from 'postgres';
import { agentCodec } from '../../src/resources/agents/agent.codec.js';
import type { AgentEvent } from '../../src/resources/agents/agent.events.js';
import { promptCodec } from '../../src/resources/prompts/prompt.codec.js';
import type { PromptEvent } from '../../src/resources/prompts/prompt.events.js';
import { defineProjection, type Statement } from '../projection.js';
import { asText } from '../text.js';

/** The current text of every prompt that is not deleted. */
export const prompts = defineProjection<PromptEvent | AgentEvent>({
  name: 'prompts',
  categories: ['prompt', 'agent'],
  codec: { ...promptCodec, ...agentCodec },
  ddl: new URL('./prompts.sql', import.meta.url),

  on: {
    PromptCreated: ({ data }, sql) => sql`
      insert into prompt (prompt_id, owner_id, name, content, created_at, updated_at, import_id)
      values (${data.promptId}, ${data.ownerId}, ${asText(data.name)}, ${asText(data.content)}, ${data.createdAt}, ${data.createdAt}, ${data.importId ?? null})
      on conflict (prompt_id) do nothing`,

    PromptUpdated: ({ data }, sql) => sql`
      update prompt
      set name = coalesce(${textOrNull(data.name)}, name), content = coalesce(${textOrNull(data.content)}, content), updated_at = ${data.updatedAt}
      where prompt_id = ${data.promptId}`,

    PromptDeleted: ({ data }, sql) => sql`delete from prompt where prompt_id = ${data.promptId}`,

    AgentCreated: ({ data: { importId } }, sql) => (importId === undefined ? [] : listed(importId, sql)),
    AgentUpdated: ({ data: { importId } }, sql) => (importId === undefined ? [] : listed(importId, sql)),
  },
});

const listed = (importId: string, sql: TransactionSql): Statement =>
  sql`update prompt set import_id = null where import_id = ${importId}`;

const textOrNull = (text: string | undefined) => (text === undefined ? null : asText(text));
