import { encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { APPEND_BYTES_MAX, type EventStore, type NewEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../kernel/ids.js';
import type { Streams } from '../../kernel/event-sourcing/streams.js';
import { sseData } from '../../platform/http/sse-data.policy.js';
import { belongsTo } from '../conversation/conversation-access.policy.js';
import { conversation } from '../conversation/conversation.decider.js';
import type { EarlierTurns } from '../conversation/earlier-turns.port.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { type Frame, FRAME_EVENT, type JournalAccess, messageStream } from './message.events.js';
import { MessageDigest } from './message.policy.js';
import type { Commands } from '../../kernel/commands.js';
import { AppendTurn } from '../conversation/additions.commands.js';
import { append } from '../conversation/additions.decider.js';
import { type AddedTurn, TurnAdditions } from '../conversation/additions.port.js';
import type { Conversation } from '../conversation/turn.policy.js';

/** Approximate maximum size of an append of several frames. */
const BATCH_BYTES_MAX = APPEND_BYTES_MAX / 2;

/**
 * Adds turns to the log in four steps: (1) the conversation decides whether it accepts the turn; (2) the journal gets its
 * retention; (3) the missing frames are written; (4) the turn is appended with the digest of the journal. After a crash all steps
 * are repeated: existing frames are kept, and an appended turn is not changed. If the conversation is deleted before (4), the
 * journal cannot be read, and its retention deletes it.
 */
export class StoredTurnAdditions extends TurnAdditions {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly earlierTurns: EarlierTurns,
    private readonly retentionSeconds: number,
  ) {
    super();
  }

  async add(added: AddedTurn, cause: Cause): Promise<number | undefined> {
    const { conversationId, ownerId, turnId, question, parts, modelId, origin } = added;
    const known = await this.streams.fold(conversationStream(conversationId), conversation);
    const indexIn = (state: Conversation) => (belongsTo(state, { userId: ownerId }) ? state.turns.get(turnId)?.index : undefined);
    const earlier = belongsTo(known.state, { userId: ownerId }) ? await this.earlierTurns.byId(known, turnId) : undefined;
    if (earlier) return earlier.index;
    const about = { conversationId, turnId, question, ...parts, modelId, requestId: cause.correlationId, origin };
    if (append({ ...about, ...NOTHING_SHOWN }, ownerId)(known.state).length === 0) return indexIn(known.state);
    const shown = await this.show(added, cause);
    const state = await this.commands.execute(new AppendTurn({ ...about, ...shown }, ownerId, cause, known));
    // A snapshot that was taken meanwhile may omit the turn.
    return belongsTo(state, { userId: ownerId }) && !state.turns.has(turnId) ? this.add(added, cause) : indexIn(state);
  }

  private async show(added: AddedTurn, cause: Cause): Promise<Shown> {
    const stream = messageStream(added.turnId);
    await this.store.setRetention(stream, { maxAgeSeconds: this.retentionSeconds });
    // Another process may add the same turn with the same frames, so the missing frames are determined again.
    await this.streams.race(stream, async () => {
      const { lastId } = await this.shown(stream);
      let last = lastId;
      for (const batch of batchesOf(eventsOf(added, cause).slice(lastId + 1))) {
        await this.streams.appendEvents(stream, last < 0 ? 'none' : last, batch);
        last += batch.length;
      }
    });
    return this.shown(stream);
  }

  private async shown(stream: string): Promise<Shown> {
    const digest = new MessageDigest();
    for await (const page of this.store.read(stream)) for (const { revision, data } of page) digest.add(revision, data);
    return { lastId: digest.lastId, frames: digest.frames, sha256: digest.hex() };
  }
}

type Shown = Readonly<{ lastId: number; frames: number; sha256: string }>;

const NOTHING_SHOWN: Shown = { lastId: -1, frames: 0, sha256: '' };

/** The frames of an added turn. They equal those of a turn that was asked in the conversation. */
function framesOf({ conversationId, turnId, parts }: AddedTurn, { correlationId }: Cause): readonly Frame[] {
  const { answer, thought, sources, toolCalls, structured } = parts;
  return [
    { type: 'message_id', message_id: turnId, conversation_id: conversationId, request_id: correlationId },
    ...(thought === '' ? [] : [{ type: 'thought', thought } as const]),
    ...(structured || answer === '' ? [] : [{ type: 'answer', answer } as const]),
    { type: 'source', source: sources },
    { type: 'tool_calls', tool_calls: toolCalls },
    ...(structured ? [{ type: 'structured_answer', answer, structured, schema: null } as const] : []),
    { type: 'id', id: conversationId },
    { type: 'end' },
  ];
}

function eventsOf(added: AddedTurn, cause: Cause): readonly NewEvent[] {
  const { conversationId, ownerId, turnId } = added;
  const access: JournalAccess = { conversationId, ownerId, agentKeyId: null, agentId: null };
  const metadata = encodeMetadata(cause);
  const firstMetadata = JSON.stringify({ ...(JSON.parse(metadata) as object), ...access });
  return framesOf(added, cause).map((frame, revision) => ({
    id: deterministicId(turnId, revision, 'addition'),
    type: FRAME_EVENT,
    data: sseData(frame),
    metadata: revision === 0 ? firstMetadata : metadata,
  }));
}

function batchesOf(events: readonly NewEvent[]): readonly (readonly NewEvent[])[] {
  const batches: NewEvent[][] = [];
  let bytes = Infinity;
  for (const event of events) {
    bytes += Buffer.byteLength(event.data) + Buffer.byteLength(event.metadata);
    if (bytes > BATCH_BYTES_MAX) {
      batches.push([]);
      bytes = Buffer.byteLength(event.data) + Buffer.byteLength(event.metadata);
    }
    batches.at(-1)!.push(event);
  }
  return batches;
}
