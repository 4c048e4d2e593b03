import type { RunUse } from '../../src/background/runs/run.events.js';
import type { PurgedQuestion, PurgedTurn, Usage } from '../../src/dialogue/conversation/conversation.events.js';
import { inSet, type RowOfSet, type SetStatement } from '../projection.js';
import { MOMENT, noted, TOKENS } from './entries.js';

type Owned = Readonly<{ ownerId: string; agentId: string | null; agentKeyId: string | null }>;

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

/** A turn as it is after all of its events were applied. */
export function knownTurn(turnId: string, owned: Owned, told: PurgedTurn['told']): RowOfSet {
  const most = (tokens: (usage: Usage) => number) => Math.max(0, ...told.map(tokens));
  return inSet(KNOWN_TURNS, {
    turn_id: turnId,
    ...columnsOf(owned),
    prompt_tokens: most(({ promptTokens }) => promptTokens),
    completion_tokens: most(({ completionTokens }) => completionTokens),
  });
}

/** A run as it is after all of its events were applied. */
export const knownRun = (runId: string, ownerId: string, agentId: string | null, used: readonly RunUse[]): RowOfSet =>
  inSet(KNOWN_RUNS, {
    ...{ run_id: runId, owner_id: ownerId, agent_id: agentId ?? '' },
    started: used.some(({ requests }) => requests > 0),
  });

/** A use that a purge repeats. A use that is stored already is not counted again. */
export const carriedOver = (stream: string, use: RunUse, owned: Owned): RowOfSet => {
  const { revision, at, requests, promptTokens, completionTokens } = use;
  const tokens = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
  return inSet(CARRIED_OVER, { stream, revision, at, ...columnsOf(owned), requests, ...tokens });
};

const columnsOf = ({ ownerId, agentId, agentKeyId }: Owned) => ({
  owner_id: ownerId,
  agent_id: agentId ?? '',
  agent_key_id: agentKeyId ?? '',
});

const OWNED = { owner_id: 'text', agent_id: 'text', agent_key_id: 'text' };

const KNOWN_TURNS: SetStatement = {
  columns: { turn_id: 'text', ...OWNED, ...TOKENS },
  tables: ['turn'],
  step: 3,
  key: 'turn_id',
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('turn')} (turn_id, owner_id, agent_id, agent_key_id, prompt_tokens, completion_tokens)
    select turn_id, owner_id, agent_id, agent_key_id, prompt_tokens, completion_tokens from ${rows}
    on conflict (turn_id) do update set prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens`,
};

const KNOWN_RUNS: SetStatement = {
  columns: { run_id: 'text', owner_id: 'text', agent_id: 'text', started: 'boolean' },
  tables: ['run'],
  step: 3,
  key: 'run_id',
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('run')} (run_id, owner_id, agent_id, started) select run_id, owner_id, agent_id, started from ${rows}
    on conflict (run_id) do update set started = excluded.started`,
};

/** The entries of the events themselves, if these are in the log, are in statements of lower steps. */
const CARRIED_OVER: SetStatement = {
  columns: { ...MOMENT, ...OWNED, requests: 'integer', ...TOKENS },
  tables: ['entry', 'hour'],
  step: 3,
  statement: (means) => {
    const { sql, rows } = means;
    return noted(means, sql`used as (select * from ${rows})`, sql`on conflict do nothing`);
  },
};
