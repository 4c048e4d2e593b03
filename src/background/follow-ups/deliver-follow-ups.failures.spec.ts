import { beforeEach, describe, expect, it } from '@jest/globals';
import { CountedReads } from '../../../test/support/counted-reads.js';
import { MortalStore } from '../../../test/support/mortal-store.js';
import { omitTurns } from '../../../test/support/omitted-turns.js';
import { askedTurn, cause, eventsOf } from '../../../test/support/turns.js';
import { encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { systemTiming } from '../../platform/system-timing.js';
import { CONVERSATIONS_PER_TICK_MAX, FOLLOW_UP_BATCH_MS, WAITING_CONVERSATIONS_MAX } from './deliver-follow-ups.ticker.js';
import { followUpsStream } from './follow-ups.events.js';
import { answer, automatic, beginAnew, delivering, followUp, settled, ticking, world } from '../../../test/support/follow-ups.js';

beforeEach(beginAnew);

describe('a follow-up of a conversation', () => {
  beforeEach(() => answer('t1', 'So.'));

  /** Lets the follow-ups of other conversations wait before those of this one. They cannot be read. */
  async function waitBehindFailing(length: number): Promise<readonly string[]> {
    const failing = Array.from({ length }, (_, at) => `failing-${at}`);
    const unknown = { type: 'OfANewerVersion', data: '{}', metadata: encodeMetadata(cause) };
    for (const id of failing) await world.log.append(followUpsStream(id), 'none', [{ id: newId(), ...unknown }]);
    world.waiting = [...failing, 'c1'];
    return failing;
  }

  it('is reported although those of WAITING_CONVERSATIONS_MAX conversations before it fail', async () => {
    await followUp('a');
    await waitBehindFailing(WAITING_CONVERSATIONS_MAX);
    const { tick, pass } = ticking();
    const everyMs = FOLLOW_UP_BATCH_MS / 4;
    for (let ticks = 0; ticks < 20; ticks++, pass(everyMs)) await tick().catch(() => undefined);
    expect(await automatic()).toHaveLength(1);
  });

  it('is found among the first 1,000 conversations that wait', async () => {
    await ticking().tick();
    expect(world.limits).toEqual([1_000]);
  });

  it('is reported although those of many conversations before it fail in each tick', async () => {
    await followUp('a');
    const failing = await waitBehindFailing(CONVERSATIONS_PER_TICK_MAX);
    const { tick, pass } = ticking();
    await tick();
    pass(FOLLOW_UP_BATCH_MS);
    await expect(tick()).rejects.toThrow(`${failing.length} of ${failing.length} failed`);
    await tick();
    expect(await automatic()).toHaveLength(1);
    world.waiting = failing;
    pass(FOLLOW_UP_BATCH_MS);
    await expect(tick()).rejects.toThrow(`${failing.length} of`);
  });

  it('fails if the owner’s quota is used up', async () => {
    await followUp('a');
    world.refusal = new Rejection('quota-exceeded', 'The usage quota is used up.');
    await delivering().tick();
    const last = (await eventsOf(world.log, followUpsStream('c1'))).at(-1)!;
    expect([last.type, JSON.parse(last.data)]).toEqual([
      'FollowUpFailed',
      expect.objectContaining({ error: 'The usage quota is used up.' }),
    ]);
  });

  it.each([
    ['', () => Promise.resolve()],
    [', although a snapshot omits it since', () => omitTurns(new Streams(world.log, systemTiming), 'c1')],
  ])('is delivered if another process has asked its turn while this one was refused%s', async (_, goOn) => {
    await followUp('a');
    world.meanwhile = async () => {
      // The other process asks the turn and has not recorded the delivery yet.
      await expect(delivering(new MortalStore(world.log, 1)).tick()).rejects.toThrow('The process is dead.');
      await goOn();
      world.refusal = new Rejection('usage-limit', 'The limit is reached.');
    };
    await delivering().tick();
    expect([(await automatic()).length, await settled()]).toEqual([1, ['FollowUpDelivered']]);
  });

  it('is tried again after an error', async () => {
    await followUp('a');
    world.refusal = new Error('The database is away.');
    await expect(delivering().tick()).rejects.toThrow('The database is away.');
    expect([await settled(), world.admitted]).toEqual([[], []]);
    world.refusal = undefined;
    await delivering().tick();
    expect(await settled()).toEqual(['FollowUpDelivered']);
  });

  it('is delivered once by concurrent processes', async () => {
    for (let round = 0; round < 4; round++) {
      await Promise.all([followUp(`a${round}`), followUp(`b${round}`)]);
      // A process that loses a race tries again at the next tick.
      const racing = () =>
        delivering()
          .tick()
          .catch(() => undefined);
      await Promise.all([racing(), followUp(`c${round}`), racing(), racing()]);
      for (const { turnId } of await automatic()) await answer(turnId, 'Fine.');
      await askedTurn(world.log, 'c1', `q${round}`);
      await answer(`q${round}`, 'So.');
    }
    await delivering().tick();
    for (const { turnId } of await automatic()) await answer(turnId, 'Fine.');
    await delivering().tick();
    const told = (await automatic()).flatMap(({ question }) => question.match(/[abc]\d(?= is done)/g) ?? []);
    expect(told.sort()).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2', 'b3', 'c0', 'c1', 'c2', 'c3']);
    expect((await settled()).filter((type) => type === 'FollowUpDelivered' || type === 'FollowUpMerged')).toHaveLength(
      told.length,
    );
  });

  it('is delivered once, at whichever append a process dies', async () => {
    let deaths = 0;
    for (let appends = 0; appends < 5; appends++) {
      world.log = new CountedReads();
      await askedTurn(world.log, 'c1', 't1');
      await answer('t1', 'So.');
      for (const key of ['a', 'b']) await followUp(key);
      const mortal = new MortalStore(world.log, appends);
      await delivering(mortal)
        .tick()
        .catch(() => undefined);
      if (mortal.isDead) deaths++;
      await followUp('c');
      for (let tick = 0; tick < 3; tick++) {
        await delivering().tick();
        for (const { turnId } of await automatic()) await answer(turnId, 'Fine.');
      }
      const told = (await automatic()).flatMap(({ question }) => question.match(/[abc](?= is done)/g) ?? []);
      expect(told.sort()).toEqual(['a', 'b', 'c']);
      expect(await settled()).toHaveLength(3);
    }
    expect(deaths).toBe(3);
  });
});
