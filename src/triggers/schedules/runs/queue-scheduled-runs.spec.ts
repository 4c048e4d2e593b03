import { beforeEach, expect, it } from '@jest/globals';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { created, ended, failed, hourly, queued, runId, scheduleId } from '../../../../test/support/schedule-events.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { cause } from '../../../../test/support/turns.js';
import { QueuedRuns } from '../../../background/runs/queued-runs.js';
import { GiveUpRunHandler, QueueRunHandler } from '../../../background/runs/run.commands.js';
import { run, startRun } from '../../../background/runs/run.decider.js';
import { runStream } from '../../../background/runs/run.events.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { ScheduleRules } from '../schedule/schedule-rules.js';
import { scheduleCodec } from '../schedule/schedule.codec.js';
import { type ScheduleEvent, scheduleStream } from '../schedule/schedule.events.js';
import { QueueScheduledRuns } from './queue-scheduled-runs.reaction.js';
import { QueueScheduledRunHandler } from './scheduled-run.commands.js';

const timedOut = ended(1, '09:20:00', { status: 'timeout', errorType: 'timeout' });

let streams: Streams;
let tasks: string[];
let reaction: QueueScheduledRuns;
beforeEach(async () => {
  streams = new Streams(new InMemoryEventStore(), systemTiming);
  tasks = [];
  const commands = commandsOver(
    new QueueScheduledRunHandler(streams),
    new QueueRunHandler(streams),
    new GiveUpRunHandler(streams),
  );
  const runs = new QueuedRuns(commands, { queue: async ({ taskId }) => void tasks.push(taskId) });
  reaction = new QueueScheduledRuns(streams, commands, runs, { runTimeoutMs: 600_000 } as ScheduleRules);
  await append('none', created(hourly), queued('09', '10'));
  await follow();
});

const append = (revision: number | 'none', ...events: readonly ScheduleEvent[]) =>
  streams.append(scheduleStream(scheduleId), revision, scheduleCodec, events, cause);

/** Delivers the newest event of the schedule. */
async function follow(): Promise<void> {
  const last = await lastEvent(streams.store, scheduleStream(scheduleId));
  const event = decode<ScheduleEvent>(scheduleCodec, last!)!;
  await reaction.on[event.type as keyof QueueScheduledRuns['on']](event as Recorded<never>);
}
const stateOfRun = async () => (await streams.fold(runStream(runId), run)).state;

it('the run of a slot is queued', async () => {
  expect([tasks, (await stateOfRun()).queued]).toEqual([[runId], expect.objectContaining({ runId, input: 'Look.' })]);
});

it('a run that has not started when its schedule gives it up is not started any more', async () => {
  await append(1, timedOut);
  await follow();
  expect(await stateOfRun()).toMatchObject({ status: 'failed', failure: 'The run did not start within its time limit.' });
});

it('a run that has started when its schedule gives it up continues', async () => {
  await streams.transact(runStream(runId), run, startRun(runId, 1, turnSettings()), cause);
  await append(1, timedOut);
  await follow();
  expect((await stateOfRun()).status).toBe('started');
});

it('a run that its schedule ends in another way does not change', async () => {
  await append(1, ended(1, '09:20:00', failed));
  await follow();
  expect((await stateOfRun()).status).toBe('queued');
});
