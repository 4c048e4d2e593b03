import { beforeEach, describe, expect, it } from '@jest/globals';
import { askedTurn, cause, eventsOf } from '../../../test/support/turns.js';
import { asOwner, conversation, remove } from '../../dialogue/conversation/conversation.decider.js';
import { conversationStream } from '../../dialogue/conversation/conversation.events.js';
import { FOLLOW_UPS_IN_A_ROW_MAX } from '../../dialogue/conversation/turn.decider.js';
import { decodeCause } from '../../kernel/event-sourcing/codec.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { FOLLOW_UP_BATCH_MS } from './deliver-follow-ups.ticker.js';
import { FOLLOW_UP_TEXT_CHARACTERS_MAX } from './follow-up-text.policy.js';
import { FOLLOW_UPS_PER_TURN_MAX } from './follow-ups.decider.js';
import { followUpsCodec } from './follow-ups.codec.js';
import { type FollowUpsEvent, followUpsStream } from './follow-ups.events.js';
import { systemTiming } from '../../platform/system-timing.js';
import { answer, automatic, beginAnew, delivering, followUp, settled, ticking, world } from '../../../test/support/follow-ups.js';

beforeEach(beginAnew);

describe('a follow-up of a conversation', () => {
  beforeEach(() => answer('t1', 'So.'));

  it('is not stored once the conversation is deleted', async () => {
    await new Streams(world.log, systemTiming).transact(conversationStream('c1'), conversation, asOwner('alice', remove), cause);
    expect(await followUp('late')).toBe(false);
    expect(await eventsOf(world.log, followUpsStream('c1'))).toEqual([]);
  });

  it('is reported once, in one automatic turn with the other waiting ones', async () => {
    for (const key of ['a', 'b', 'a']) await followUp(key);
    await delivering().tick();
    const [turn, ...others] = await automatic();
    expect([turn!.question, turn!.index, others]).toEqual(['1. a is done.\n\n2. b is done.', 1, []]);
    expect(turn!.origin).toEqual({ kind: 'follow-up', source: 'job', refId: 'ref of a', dedupeKey: 'a' });
    expect(await settled()).toEqual(['FollowUpDelivered', 'FollowUpMerged']);
    expect(world.admitted).toEqual([turn!.turnId]);
    await delivering().tick();
    expect(await automatic()).toHaveLength(1);
  });

  it('is reported when the process has seen it for FOLLOW_UP_BATCH_MS', async () => {
    await followUp('a');
    const { tick, pass } = ticking();
    await tick();
    pass(FOLLOW_UP_BATCH_MS - 1);
    await tick();
    expect(await automatic()).toEqual([]);
    pass(1);
    await tick();
    expect(await automatic()).toHaveLength(1);
  });

  it('waits anew if its conversation was not free meanwhile', async () => {
    await followUp('a');
    const { tick, pass } = ticking();
    for (world.waiting of [['c1'], [], ['c1']]) {
      await tick();
      pass(FOLLOW_UP_BATCH_MS);
    }
    expect(await automatic()).toEqual([]);
    await tick();
    expect(await automatic()).toHaveLength(1);
  });

  it('continues the causal chain of the oldest follow-up, also in another tick', async () => {
    for (const key of ['a', 'b']) await followUp(key);
    const [requested] = await eventsOf(world.log, followUpsStream('c1'));
    world.meanwhile = () => Promise.reject(new Error('The process is dead.'));
    await expect(delivering().tick()).rejects.toThrow('The process is dead.');
    await delivering().tick();
    const events = [
      ...(await eventsOf(world.log, followUpsStream('c1'))).slice(2),
      (await eventsOf(world.log, conversationStream('c1'))).at(-1)!,
    ];
    expect(events.map(({ type }) => type)).toEqual(['FollowUpsGathered', 'FollowUpDelivered', 'FollowUpMerged', 'TurnAsked']);
    const { correlationId } = cause;
    for (const { metadata } of events) expect(decodeCause(metadata)).toMatchObject({ correlationId, causationId: requested!.id });
  });

  it('is asked with the settings of the last question, resolved again', async () => {
    await followUp('a');
    await delivering().tick();
    expect(world.resolved).toEqual([
      {
        question: 'a is done.',
        conversation_id: 'c1',
        passthrough: {},
        model_id: 'scripted',
        prompt_id: '',
        active_docs: [],
        chunks: expect.any(Number),
        retriever: 'classic',
      },
    ]);
    await answer((await automatic())[0]!.turnId, 'NO_REPLY');
  });

  it('beyond the maximum of one turn is reported after that turn was answered', async () => {
    for (let n = 0; n <= FOLLOW_UPS_PER_TURN_MAX; n++) await followUp(`w${n}`);
    await delivering().tick();
    await delivering().tick();
    const [first, ...others] = await automatic();
    expect([first!.question.split('\n\n').length, others]).toEqual([FOLLOW_UPS_PER_TURN_MAX, []]);
    await answer(first!.turnId, 'Fine.');
    await delivering().tick();
    expect((await automatic())[1]!.question).toBe(`w${FOLLOW_UPS_PER_TURN_MAX} is done.`);
  });

  it('has a truncated text', async () => {
    await followUp('a', { text: '😀'.repeat(FOLLOW_UP_TEXT_CHARACTERS_MAX) });
    await delivering().tick();
    const { question } = (await automatic())[0]!;
    expect([question.length <= FOLLOW_UP_TEXT_CHARACTERS_MAX, question.endsWith('😀…')]).toEqual([true, true]);
  });

  it('waits while another turn is not answered', async () => {
    await askedTurn(world.log, 'c1', 't2');
    await followUp('a');
    await delivering().tick();
    expect([await automatic(), await settled(), world.admitted]).toEqual([[], [], []]);
    await answer('t2', 'So.');
    await delivering().tick();
    expect([(await automatic()).length, await settled()]).toEqual([1, ['FollowUpDelivered']]);
  });

  it('that waits is delivered without reading the earlier follow-ups of the conversation in each tick', async () => {
    const earlier = Array.from({ length: 200 }, (_, n): FollowUpsEvent => {
      const followUpId = `earlier ${n}`;
      const about = { conversationId: 'c1', followUpId };
      const requested = {
        ...about,
        ownerId: 'alice',
        source: 'job',
        refId: 'ref',
        dedupeKey: followUpId,
        text: 'Done.',
      } as const;
      return n % 2 === 0
        ? { type: 'FollowUpRequested', data: requested }
        : { type: 'FollowUpDelivered', data: { ...about, followUpId: `earlier ${n - 1}`, turnId: 't' } };
    });
    await new Streams(world.log, systemTiming).append(followUpsStream('c1'), 'none', followUpsCodec, earlier, cause);
    await askedTurn(world.log, 'c1', 't2');
    await followUp('a');
    const ticker = delivering();
    await ticker.tick();
    world.log.events = 0;
    await ticker.tick();
    expect(world.log.events).toBeLessThan(earlier.length / 2);
    await followUp('b');
    await ticker.tick();
    await answer('t2', 'So.');
    await ticker.tick();
    expect([(await automatic()).length, (await settled()).slice(100)]).toEqual([1, ['FollowUpDelivered']]);
    await answer((await automatic())[0]!.turnId, 'So.');
    await ticker.tick();
    expect((await automatic()).map(({ question }) => question)).toEqual(['a is done.', 'b is done.']);
  });

  it('is suppressed after FOLLOW_UPS_IN_A_ROW_MAX automatic turns in a row', async () => {
    for (let n = 0; n <= FOLLOW_UPS_IN_A_ROW_MAX; n++) {
      await followUp(`w${n}`);
      await delivering().tick();
      await answer((await automatic()).at(-1)!.turnId, 'Fine.');
    }
    expect(await settled()).toEqual([
      ...Array.from({ length: FOLLOW_UPS_IN_A_ROW_MAX }, () => 'FollowUpDelivered'),
      'FollowUpSuppressed',
    ]);
    await askedTurn(world.log, 'c1', 't2');
    await answer('t2', 'So.');
    await followUp('more');
    await delivering().tick();
    expect((await settled()).at(-1)).toBe('FollowUpDelivered');
  });

  it('is superseded if the conversation is deleted or belongs to another owner', async () => {
    await followUp('a', { ownerId: 'mallory' });
    await delivering().tick();
    await followUp('b');
    await new Streams(world.log, systemTiming).transact(conversationStream('c1'), conversation, remove, cause);
    await delivering().tick();
    expect([await settled(), await automatic()]).toEqual([['FollowUpSuperseded', 'FollowUpSuperseded'], []]);
  });
});
