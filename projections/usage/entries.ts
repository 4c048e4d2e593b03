import type { TransactionSql } from 'postgres';
import type { SetMeans, Statement } from '../projection.js';

type Fragment = ReturnType<TransactionSql>;

/** The stream, revision and time of the event that reported a use. */
export const MOMENT = { stream: 'text', revision: 'integer', at: 'timestamptz' };
export const TOKENS = { prompt_tokens: 'bigint', completion_tokens: 'bigint' };

/**
 * Inserts the rows of `used` as entries and adds them to their hours.
 *
 * @param repeated what happens to a row whose entry is stored already
 */
export const noted = ({ sql, table }: SetMeans, used: Fragment, repeated: Fragment = sql``): Statement => sql`
  with ${used}, entered as (
    insert into ${table('entry')} (stream, revision, at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
    select stream, revision, at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens from used
    where requests + prompt_tokens + completion_tokens > 0
    ${repeated}
    returning at, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens
  )
  insert into ${table('hour')} as hour (hour, owner_id, agent_id, agent_key_id, requests, prompt_tokens, completion_tokens)
  select date_trunc('hour', at, 'UTC') as of_hour, owner_id, agent_id, agent_key_id,
    sum(requests), sum(prompt_tokens), sum(completion_tokens)
  from entered group by of_hour, owner_id, agent_id, agent_key_id
  on conflict (owner_id, hour, agent_id, agent_key_id) do update set
    requests = hour.requests + excluded.requests,
    prompt_tokens = hour.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = hour.completion_tokens + excluded.completion_tokens`;
