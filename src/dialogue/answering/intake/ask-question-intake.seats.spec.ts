import { describe, expect, it } from '@jest/globals';
import { NoLimits } from '../../../../test/support/no-limits.js';
import { questionIntake } from '../../../../test/support/question-intakes.js';
import { cause, eventsOf } from '../../../../test/support/turns.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conclude, requestStop } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { readTranscript, type Transcript } from '../loop/transcript.js';
import type { TakenTurn, TurnTaker } from './turn-taker.js';

/** Has the given number of free seats, and records the turns it is given. */
class Seats implements TurnTaker {
  readonly run: TakenTurn[] = [];
  readonly expected: Transcript[] = [];
  onExpected: (transcript: Transcript) => void = () => undefined;
  left = 0;
  constructor(private free: number) {}
  seat() {
    if (this.free-- <= 0) return undefined;
    return {
      producer: 'here',
      expectTranscript: (transcript: Transcript) => {
        this.expected.push(transcript);
        this.onExpected(transcript);
      },
      run: (taken: TakenTurn) => void this.run.push(taken),
      leave: () => void this.left++,
    };
  }
}

describe('a process with free seats', () => {
  const answer = (streams: Streams, conversationId: string, turnId: string) => {
    const parts = { answer: 'Because.', thought: '', sources: [], toolCalls: [], structured: false, modelId: 'm', usage: null };
    const outcome = { type: 'TurnAnswered', data: { conversationId, turnId, ...parts } } as const;
    return streams.transact(conversationStream(conversationId), conversation, conclude(outcome, 'here'), cause);
  };
  const eventsIn = async (streams: Streams, conversationId: string) =>
    (await eventsOf(streams.store, conversationStream(conversationId))).map(({ type }) => type);

  it('claims a turn in the append of its question, with the transcript that a reader of the log would get', async () => {
    const seats = new Seats(1);
    const { accept, streams } = questionIntake(new NoLimits(), seats);
    const { conversationId, turnId, position } = await accept({ question: 'Why?' });
    expect(await eventsIn(streams, conversationId)).toEqual(['ConversationStarted', 'TurnAsked', 'TurnStarted']);
    const [{ transcript, claimed }] = seats.run as [TakenTurn];
    expect(claimed).toMatchObject({ revision: 2, position });
    const { exchanges, waited, ...read } = (await readTranscript(streams, conversationId, turnId))!;
    expect(transcript).toMatchObject({ ...read, folded: { ...read.folded } });
    expect([await transcript.exchanges(1_000), [...transcript.waited]]).toEqual([await exchanges(1_000), [...waited]]);
  });

  it('announces the expected turn before its append, and again if the append lost a race', async () => {
    const seats = new Seats(2);
    const { accept, streams } = questionIntake(new NoLimits(), seats);
    const { conversationId } = await accept({ question: 'Why?' });
    const [taken] = seats.run as [TakenTurn];
    const expected = seats.expected.map(({ folded, ...rest }) => ({ ...rest, exchanges: undefined, revision: folded!.revision }));
    const { folded, ...rest } = taken.transcript;
    expect(expected).toEqual([{ ...rest, exchanges: undefined, revision: folded!.revision }]);
    expect(seats.expected[0]!.folded!.position).toBeUndefined();
    // Another process appends to the conversation, so the cached state of this one is stale.
    const about = { conversationId, turnId: taken.transcript.asked.turnId };
    const elsewhere = new Streams(streams.store, systemTiming);
    await elsewhere.transact(conversationStream(conversationId), conversation, requestStop(about.turnId), cause);
    await accept({ question: 'And then?', conversation_id: conversationId });
    const [, late, settled] = seats.expected;
    expect([late!.cause.causationId === settled!.cause.causationId, settled!.cause]).toEqual([
      false,
      seats.run[1]!.transcript.cause,
    ]);
  });

  it('announces a replacing question without the exchanges that it supersedes', async () => {
    const seats = new Seats(2);
    const { accept, streams } = questionIntake(new NoLimits(), seats);
    const { conversationId, turnId } = await accept({ question: 'Why?' });
    await answer(streams, conversationId, turnId);
    let exchanges: Promise<unknown> | undefined;
    seats.onExpected = (transcript) => {
      exchanges = transcript.exchanges(1_000);
    };
    await accept({ question: 'What?', conversation_id: conversationId, index: 0 });
    expect(await exchanges).toEqual([]);
    expect(await seats.run[1]!.transcript.exchanges(1_000)).toEqual([]);
  });

  it('reads the earlier exchanges of a continued conversation', async () => {
    const seats = new Seats(1);
    const { accept, streams } = questionIntake(new NoLimits(), seats);
    const { conversationId, turnId } = await accept({ question: 'Why?' });
    await answer(streams, conversationId, turnId);
    const again = new Seats(1);
    const next = questionIntake(new NoLimits(), again, streams);
    await next.accept({ question: 'And then?', conversation_id: conversationId });
    const [{ transcript }] = again.run as [TakenTurn];
    expect(transcript.beginsConversation).toBe(false);
    expect(await transcript.exchanges(1_000)).toEqual([{ prompt: 'Why?', response: 'Because.' }]);
  });

  it('gives the seat back if the question is refused, and enqueues turns for which it has no seat', async () => {
    const seats = new Seats(1);
    const { accept, streams } = questionIntake(new NoLimits(), seats);
    await expect(accept({ question: 'Why?', conversation_id: newId() })).rejects.toMatchObject({
      code: 'conversation-not-found',
    });
    expect([seats.left, seats.run]).toEqual([1, []]);
    const { conversationId } = await accept({ question: 'Why?' });
    expect(await eventsIn(streams, conversationId)).toEqual(['ConversationStarted', 'TurnAsked']);
  });

  it('does not claim a turn again for a repeated request', async () => {
    const seats = new Seats(2);
    const { accept } = questionIntake(new NoLimits(), seats);
    await accept({ question: 'Why?' }, 'k');
    await expect(accept({ question: 'Why?' }, 'k')).resolves.toMatchObject({ replayed: true });
    expect(seats.run).toHaveLength(1);
  });
});
