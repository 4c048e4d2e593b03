import { beforeEach, describe, expect, it } from '@jest/globals';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { type AddedTurn, TurnAdditions } from '../../../dialogue/conversation/additions.port.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { Event, Recorded } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { runCodec } from '../../../background/runs/run.codec.js';
import { type RunEvent, runStream } from '../../../background/runs/run.events.js';
import { AppendScheduledAnswers } from './append-scheduled-answers.reaction.js';
import { scheduleCodec } from '../schedule/schedule.codec.js';
import { type ScheduleEvent, type ScheduleRunEnded, scheduleStream } from '../schedule/schedule.events.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import { AppendScheduledRunHandler } from './scheduled-run.commands.js';
import { scheduledRun } from './scheduled-run.decider.js';
import { messageIdOf, scheduledRunStream } from './scheduled-run.events.js';
import { systemTiming } from '../../../platform/system-timing.js';

const scheduleId = 's1';
const runId = 'r1';
const slot = '2026-01-01T09:00:00.000Z';
const later = '2026-01-01T09:00:05.000Z';

class AdditionsForTests extends TurnAdditions {
  readonly added: AddedTurn[] = [];
  isGone = false;
  override async add(turn: AddedTurn): Promise<number | undefined> {
    if (this.isGone) return undefined;
    this.added.push(turn);
    return 3;
  }
}

let store: InMemoryEventStore;
let streams: Streams;
let additions: AdditionsForTests;
let reaction: AppendScheduledAnswers;
beforeEach(() => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  additions = new AdditionsForTests();
  reaction = new AppendScheduledAnswers(store, commandsOver(new AppendScheduledRunHandler(streams)), additions);
});

const write = <E extends Event>(stream: string, codec: Codec<E>, events: readonly E[]) =>
  streams.append(stream, 'none', codec, events, cause);
const parts = { answer: 'All quiet.', thought: '', sources: [], toolCalls: [], structured: false };
const finished: RunEvent = {
  type: 'RunFinished',
  data: { runId, attempt: 1, ...parts, modelId: 'm', usage: null, error: null },
};
const began: ScheduleEvent = {
  type: 'ScheduleRunQueued',
  data: { scheduleId, slot, nextSlotAt: null, runId, queuedAt: later },
};

/** Writes the streams of a run that has ended. */
async function over({ conversationId = 'c1', begun = began, end = finished } = {}): Promise<void> {
  const queued = { runId, ownerId: 'alice', agentId: null, trigger: 'schedule', input: 'Look.' } as const;
  const settings = turnSettings();
  await write<RunEvent>(runStream(runId), runCodec, [
    { type: 'RunQueued', data: { ...queued, ...(conversationId && { conversationId }) } },
    { type: 'RunStarted', data: { runId, attempt: 1, settings } },
    end,
  ]);
  await write<ScheduleEvent>(scheduleStream(scheduleId), scheduleCodec, [begun]);
  const own = { runId, scheduleId, ownerId: 'alice' };
  await write(scheduledRunStream(runId), scheduleRunCodec, [{ type: 'ScheduledRunQueued', data: own }]);
}
const told = async (status: ScheduleRunEnded['data']['status'] = 'success') => {
  const data = { scheduleId, runId, status, errorType: null, failuresInARow: 0, endedAt: later };
  const event = { id: 'e1', type: 'ScheduleRunEnded', data, cause } as unknown as Recorded<ScheduleRunEnded>;
  await reaction.on.ScheduleRunEnded(event);
};
const message = async () => (await streams.fold(scheduledRunStream(runId), scheduledRun)).state.message;

describe('the answer of a one-time run', () => {
  it('is added to the chat of its task, and the run records the message', async () => {
    await over();
    await told();
    const messageId = messageIdOf(runId);
    expect(additions.added).toEqual([
      {
        conversationId: 'c1',
        ownerId: 'alice',
        turnId: messageId,
        question: 'Look.',
        parts,
        modelId: 'm',
        origin: { kind: 'schedule', scheduleId, runId, scheduledFor: slot },
      },
    ]);
    expect(await message()).toEqual({ conversationId: 'c1', messageId });
  });

  it('is added once, even if the event is handled twice', async () => {
    await over();
    await told();
    const { revision } = await streams.fold(scheduledRunStream(runId), scheduledRun);
    await told();
    expect(new Set(additions.added.map(({ turnId }) => turnId)).size).toBe(1);
    expect((await streams.fold(scheduledRunStream(runId), scheduledRun)).revision).toBe(revision);
  });

  it('of a requested run has the time of the request', async () => {
    await over({ begun: { type: 'ScheduleRunRequested', data: { scheduleId, runId, requestedAt: later } } });
    await told();
    expect(additions.added[0]!.origin).toMatchObject({ scheduledFor: later });
  });

  it('is not added if the chat is gone', async () => {
    additions.isGone = true;
    await over();
    await told();
    expect(await message()).toBeNull();
  });

  it.each<[string, Parameters<typeof over>[0], ScheduleRunEnded['data']['status']]>([
    ['without a chat', { conversationId: '' }, 'success'],
    ['that has failed', {}, 'failed'],
    ['that timed out', { end: { type: 'RunFailed', data: { runId, error: 'x', reason: 'timeout' } } }, 'timeout'],
    ['without a stored answer', { end: { type: 'RunFailed', data: { runId, error: 'x' } } }, 'success'],
  ])('is not added for a run %s', async (_, how, status) => {
    await over(how);
    await told(status);
    expect([additions.added, await message()]).toEqual([[], null]);
  });
});
