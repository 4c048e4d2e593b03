import { asOwner, ask, conversation, open, rename } from '../../src/dialogue/conversation/conversation.decider.js';
import { SNAPSHOT_EVERY_EVENTS } from '../../src/dialogue/conversation/conversation-snapshot.policy.js';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { conclude, seal, startTurn } from '../../src/dialogue/conversation/turn.decider.js';
import { type Decide, isUnfinished } from '../../src/dialogue/conversation/turn.policy.js';
import { newId } from '../../src/kernel/ids.js';
import type { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { cause, settings } from './turns.js';

/** Ends the turns of Alice's conversation, which she reads, and asks and ends another one, whose snapshot omits them. */
export async function omitTurns(streams: Streams, conversationId: string): Promise<void> {
  const stream = conversationStream(conversationId);
  const append = (decide: Decide) => streams.transact(stream, conversation, asOwner('alice', decide), cause);
  const endAll = async () => {
    const { turns } = (await streams.fold(stream, conversation)).state;
    for (const [turnId, turn] of turns) {
      const about = { conversationId, turnId };
      const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false, modelId: 'm', usage: null };
      if (turn.status === 'asked') await append(startTurn(turnId, 'p'));
      if (isUnfinished(turn)) await append(conclude({ type: 'TurnAnswered', data: { ...about, ...parts } }));
      if (!turn.sealed) await append(seal({ ...about, lastId: 5, frames: 6, sha256: 'ab' }));
    }
    await append(open);
  };
  await endAll();
  for (let name = 0; name < SNAPSHOT_EVERY_EVENTS; name++) await append(rename(String(name)));
  await append(ask({ conversationId, turnId: newId(), index: null, question: 'And?', requestId: 'r', settings }, null));
  await endAll();
}
