import { workflowRunIdOf } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type {
  AnswerParts,
  ConversationDeleted,
  ConversationEvent,
  ConversationPurged,
  TurnFailed,
  TurnOutcome,
  TurnSettings,
} from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import {
  allWith,
  type Change,
  changeIn,
  defineProjection,
  derive,
  inSet,
  insertInto,
  removeFrom,
  type RowChange,
  type Statement,
} from '../projection.js';
import { asJsonb, asText } from '../text.js';
import { MARK, NEWEST_SHARE } from './derived-columns.js';

/** The conversations: their names, owners and links, and each turn with as much of its answer as events state. */
export const conversations = defineProjection<ConversationEvent>({
  name: 'conversations',
  categories: ['conversation'],
  codec: conversationCodec,
  ddl: new URL('./conversations.sql', import.meta.url),

  on: {
    ConversationStarted: ({ data, at }) =>
      insertInto('conversation', {
        conversation_id: data.conversationId,
        owner_id: data.ownerId,
        agent_id: data.agentId,
        agent_key_id: data.agentKeyId ?? null,
        name: asText(data.name),
        visibility: data.visibility,
        shared_usage: data.sharedUsage,
        started_at: at,
      }),

    ConversationRenamed: ({ data }) =>
      changeIn('conversation', { conversation_id: data.conversationId }, { name: asText(data.name) }),

    ConversationOpened: ({ data, revision }) =>
      marked(data.conversationId, changeIn('conversation', { conversation_id: data.conversationId }, { opened: revision })),

    ConversationDeleted: gone,
    // A rebuild may have read only a part of a conversation whose earlier events are purged.
    ConversationPurged: gone,

    ConversationShared: ({ data }, sql) => [
      sql`
      insert into share (share_id, conversation_id, owner_id, token_hash, title, turn_ids, terms, shared_at)
      select ${data.shareId}, conversation_id, owner_id, ${data.tokenHash}, name, ${JSON.stringify(data.turnIds)}::text::json,
        ${data.terms ? JSON.stringify(data.terms) : null}::text::json, ${data.sharedAt}
      from conversation where conversation_id = ${data.conversationId}
      on conflict (share_id) do nothing`,
      derive(NEWEST_SHARE, data.conversationId),
    ],
    ConversationShareEnded: ({ data }) => [
      removeFrom('share', { share_id: data.shareId }),
      derive(NEWEST_SHARE, data.conversationId),
    ],

    TurnAsked: ({ data, at }) =>
      marked(
        data.conversationId,
        insertInto('turn', {
          turn_id: data.turnId,
          conversation_id: data.conversationId,
          index: data.index,
          status: 'asked',
          question: asText(data.question),
          request_id: data.requestId,
          model_id: data.settings.modelId,
          asked_agent_id: data.settings.agentId,
          attachments: attachedTo(data.settings),
          workflow_run_id: data.settings.workflow ? workflowRunIdOf(data.turnId) : null,
          origin: data.origin ?? null,
          asked_at: at,
          changed_at: at,
        }),
      ),

    TurnAppended: ({ data, at, revision }) =>
      marked(
        data.conversationId,
        insertInto('turn', {
          turn_id: data.turnId,
          conversation_id: data.conversationId,
          index: data.index,
          status: 'answered',
          question: asText(data.question),
          request_id: data.requestId,
          model_id: data.modelId,
          ...answerColumns(data),
          origin: data.origin,
          sealed: true,
          asked_at: at,
          changed_at: at,
          ended: revision,
        }),
      ),

    TurnWithdrawn: ({ data: { conversationId, turnId } }, sql) => [
      sql`
        update turn set index = index - 1
        where conversation_id = ${conversationId} and not superseded
          and index > (select index from turn where turn_id = ${turnId})`,
      ...marked(conversationId, changeIn('turn', { turn_id: turnId }, { superseded: true })),
    ],

    TurnsSuperseded: ({ data: { conversationId, fromIndex } }, sql) =>
      marked(
        conversationId,
        sql`
        update turn set superseded = true
        where conversation_id = ${conversationId} and not superseded and index >= ${fromIndex}`,
      ),

    TurnStarted: ({ data, at }) => changeIn('turn', { turn_id: data.turnId }, { status: 'running', changed_at: at }),

    TurnPaused: ({ data, at }) =>
      marked(
        data.conversationId,
        changeIn(
          'turn',
          { turn_id: data.turnId },
          {
            status: 'paused',
            ...answerColumns(data),
            pending: asJsonb(data.calls),
            needs_approval: data.calls.some(({ pauseType }) => pauseType === 'awaiting_approval'),
            waits_until: data.expiresAt,
            changed_at: at,
          },
        ),
      ),

    TurnResumed: ({ data, at }) =>
      marked(data.conversationId, changeIn('turn', { turn_id: data.turnId }, { status: 'running', changed_at: at })),

    TurnAnswered: (event) => outcome(event, 'answered'),
    TurnStopped: (event) => outcome(event, 'stopped'),
    TurnFailed: (event) => outcome(event, 'failed', event.data),

    TurnSealed: ({ data }) => changeIn('turn', { turn_id: data.turnId }, { sealed: true }),

    BackgroundWorkNoted: ({ data: { conversationId, work, status }, revision }, sql) =>
      marked(
        conversationId,
        sql`
      insert into work (work_id, conversation_id, kind, status, noted)
      values (${work.id}, ${conversationId}, ${work.kind}, ${status}, ${revision})
      on conflict (work_id) do update set status = excluded.status, noted = excluded.noted`,
      ),

    TurnRated: ({ data: { turnId, feedback }, at }) =>
      feedback === null
        ? changeIn('turn', { turn_id: turnId }, { feedback: null, feedback_at: null })
        : changeIn('turn', { turn_id: turnId }, { feedback: asText(feedback), feedback_at: at }),
  },
});

function gone({ data: { conversationId } }: Recorded<ConversationDeleted | ConversationPurged>): readonly Change[] {
  const key = { conversation_id: conversationId };
  return [...GONE.map((rows) => inSet(rows, key)), removeFrom('conversation', key)];
}

/** Removes the rows of deleted conversations. As a set, because an owner can delete all conversations at once. */
const GONE = ['turn', 'work', 'share'].map((table) => allWith('conversation_id', table));

/** A change after which the sidebar mark of the conversation is derived again. */
const marked = (conversationId: string, change: RowChange | Statement): readonly Change[] => [
  change,
  derive(MARK, conversationId),
];

const attachedTo = ({ attachments = [] }: TurnSettings) =>
  attachments.map((file) => ({ ...file, filename: asText(file.filename) }));

/** The columns have the type json, not jsonb, so keys keep their order. Characters that Postgres cannot store are replaced. */
const answerColumns = ({ answer, thought, sources, toolCalls, structured }: AnswerParts) => ({
  response: asText(answer),
  thought: asText(thought),
  sources: asJsonb(sources),
  tool_calls: asJsonb(toolCalls),
  structured,
});

const outcome = (
  { data, at, revision }: Recorded<TurnOutcome>,
  status: string,
  failure?: Pick<TurnFailed['data'], 'error' | 'code' | 'guardrail'>,
): readonly Change[] =>
  marked(
    data.conversationId,
    changeIn(
      'turn',
      { turn_id: data.turnId },
      {
        status,
        ...answerColumns(data),
        error: failure ? asText(failure.error) : null,
        error_code: failure?.code ?? null,
        guardrail: failure?.guardrail ?? null,
        changed_at: at,
        ended: revision,
      },
    ),
  );
