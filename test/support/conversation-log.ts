import type { Sql } from 'postgres';
import { encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import type { ConversationEvent } from '../../src/dialogue/conversation/conversation.events.js';
import { turnSettings } from './turn-settings.js';

/** A placeholder for the conversation's id in a template. `turnId` makes those of its turns. */
const CONVERSATION = '00000000-0000-4000-8000-00000000000c';
const turnId = (turn: number): string => `00000000-0000-4000-8000-00000000001${turn}`;

const words = 'The log keeps every frame of an answer before it is shown to anybody, so that it can be shown again. ';
const source = { text: words.repeat(8), title: 'How it works', source: 'guide.md', filename: 'guide.md' };

const turn = (index: number): ConversationEvent[] => {
  const about = { conversationId: CONVERSATION, turnId: turnId(index) };
  const settings = turnSettings({ configurationOwnerId: 'local', promptId: 'default' });
  const answer = { answer: words.repeat(3), thought: '', sources: [source, source], toolCalls: [], structured: false };
  return [
    { type: 'TurnAsked', data: { ...about, index, question: 'What does the log keep?', requestId: turnId(index), settings } },
    { type: 'TurnStarted', data: { ...about, producer: 'worker' } },
    {
      type: 'TurnAnswered',
      data: { ...about, ...answer, modelId: 'offline', usage: { promptTokens: 900, completionTokens: 80 } },
    },
    { type: 'TurnSealed', data: { ...about, lastId: 80, frames: 81, sha256: 'f'.repeat(64) } },
  ];
};

const conversation: readonly ConversationEvent[] = [
  {
    type: 'ConversationStarted',
    data: { conversationId: CONVERSATION, ownerId: 'local', agentId: null, name: 'What does the log keep?', visibility: 'listed', sharedUsage: false, history: [] }, // oxfmt-ignore
  },
  ...turn(0),
  { type: 'ConversationRenamed', data: { conversationId: CONVERSATION, name: 'What the log keeps', by: 'title' } },
  ...turn(1),
];

export const EVENTS_PER_CONVERSATION = conversation.length;

/** The number of interleaved conversations. Neighbouring events in the log belong to different ones. */
const SIDE_BY_SIDE = 50;

const metadata = encodeMetadata({ actor: 'user:local', credential: 'none', correlationId: turnId(0), causationId: turnId(0) });

/**
 * Writes conversations of two turns, each with its own ids, to the end of a log in Postgres, in the event store's format but much
 * faster. Returns the position of the last event.
 */
export async function fillWithConversations(sql: Sql, conversations: number): Promise<bigint> {
  const templates = conversation.map(({ type, data }, revision) => ({ revision, type, data: JSON.stringify(data) }));
  const [found] = await sql<{ position: string; stream: string }[]>`
    select (select coalesce(max(position) + 1, 0) from event_store.event) as position,
      (select coalesce(max(number), 0) from event_store.stream) as stream`;
  const [first, streams] = [Number(found!.position), Number(found!.stream)];
  const last = first + conversations * EVENTS_PER_CONVERSATION - 1;
  await sql.begin(async (tx) => {
    await tx`select set_config('statement_timeout', '0', true), set_config('synchronous_commit', 'off', true)`;
    await tx`
      insert into event_store.stream (name, category, revision)
      select 'conversation-' || ${uuidOf(tx, CONVERSATION)}, 'conversation', ${EVENTS_PER_CONVERSATION - 1}
      from generate_series(1, ${conversations}) as n order by n`;
    await tx`
      insert into event_store.event (position, stream, revision, category, id, at, type, data, metadata)
      select row_number() over (order by (n - 1) / ${SIDE_BY_SIDE}, t.revision, n) - 1 + ${first}, n + ${streams}, t.revision, 'conversation', gen_random_uuid(),
        timestamptz '2026-01-01' + (n * ${EVENTS_PER_CONVERSATION} + t.revision) * interval '1 second', t.type,
        replace(replace(replace(t.data, ${CONVERSATION}, ${uuidOf(tx, CONVERSATION)}), ${turnId(0)}, ${uuidOf(tx, turnId(0))}),
          ${turnId(1)}, ${uuidOf(tx, turnId(1))}),
        replace(${metadata}::text, ${turnId(0)}, ${uuidOf(tx, turnId(0))})
      from generate_series(1, ${conversations}) as n,
        jsonb_to_recordset(${tx.json(templates)}) as t (revision integer, type text, data text)
      order by 1`;
    await tx`select setval('event_store.position', ${last})`;
  });
  await sql`analyze event_store.event`;
  return BigInt(last);
}

/** The template's id for conversation number `n`. The ids are scattered like random ones. */
const uuidOf = (sql: Sql | Parameters<Parameters<Sql['begin']>[1]>[0], id: string) => sql`md5(${id}::text || n)::uuid::text`;
