import type { TransactionSql } from 'postgres';
import type { RunUse } from '../../src/background/runs/run.events.js';
import type { PurgedQuestion, PurgedTurn, Usage } from '../../src/dialogue/conversation/conversation.events.js';
import type { SetMeans, Statement } from '../projection.js';

type Fragment = ReturnType<SetMeans['table']>;
type Owned = Readonly<{ ownerId: string; agentId: string | null; agentKeyId: string | null }>;

const HOUR_MS = 3_600_000;
const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);

/** The uses of a turn: its request, then the increase of each usage that it reported, at the time of the report. */
export function usesOf({ revision, at }: PurgedQuestion, told: PurgedTurn['told']): readonly RunUse[] {
  const uses: RunUse[] = [{ revision, at, requests: 1, promptTokens: 0, completionTokens: 0 }];
  let [prompt, completion] = [0, 0];
  for (const { promptTokens, completionTokens, ...moment } of told) {
    const more = {
      promptTokens: Math.max(promptTokens - prompt, 0),
      completionTokens: Math.max(completionTokens - completion, 0),
    };
    if (more.promptTokens + more.completionTokens > 0) uses.push({ ...moment, requests: 0, ...more });
    [prompt, completion] = [prompt + more.promptTokens, completion + more.completionTokens];
  }
  return uses;
}

/** Stores a turn as it is after all of its events were applied. */
export function knownTurn(
  turnId: string,
  { ownerId, agentId, agentKeyId }: Owned,
  told: PurgedTurn['told'],
  sql: TransactionSql,
): Statement {
  const most = (tokens: (usage: Usage) => number) => Math.max(0, ...told.map(tokens));
  return sql`
    insert into turn (turn_id, owner_id, agent_id, agent_key_id, prompt_tokens, completion_tokens)
    values (${turnId}, ${ownerId}, ${agentId ?? ''}, ${agentKeyId ?? ''}, ${most(({ promptTokens }) => promptTokens)},
      ${most(({ completionTokens }) => completionTokens)})
    on conflict (turn_id) do update set prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens`;
}

/** Stores a use that a purge repeats. A use that is stored already is not counted again. */
export function carriedOver(
  stream: string,
  use: RunUse,
  { ownerId, agentId, agentKeyId }: Owned,
  sql: TransactionSql,
): Statement {
  const { revision, at, requests, promptTokens, completionTokens } = use;
  return sql`
    with entered as (
      insert into entry (stream, revision, at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
      values (${stream}, ${revision}, ${at}, ${ownerId}, ${agentId ?? ''}, ${agentKeyId ?? ''}, ${requests}, ${promptTokens},
        ${completionTokens})
      on conflict do nothing
      returning owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens
    )
    insert into hour (hour, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
    select ${hourOf(new Date(at))}, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens from entered
    ${addedUp(sql)}`;
}

/** Adds the inserted values to those that the hour has already. */
export const addedUp = (sql: TransactionSql): Fragment => sql`
  on conflict (owner_id, hour, agent_id, agent_key_id) do update set
    requests = hour.requests + excluded.requests,
    prompt_tokens = hour.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = hour.completion_tokens + excluded.completion_tokens`;
