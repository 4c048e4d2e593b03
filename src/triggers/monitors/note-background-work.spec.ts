import { beforeEach, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { askedTurn, cause, eventsOf } from '../../../test/support/turns.js';
import { jobCodec } from '../../background/jobs/job.codec.js';
import { jobStream } from '../../background/jobs/job.events.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { monitorCodec } from './monitor/monitor.codec.js';
import { monitorStream } from './monitor/monitor.events.js';
import { type BackgroundWorkNoted, conversationStream } from '../../dialogue/conversation/conversation.events.js';
import { systemTiming } from '../../platform/system-timing.js';
import { NoteJobsInConversation } from '../../background/jobs/note-jobs-in-conversation.reaction.js';
import { NoteMonitorsInConversation } from './note-monitors-in-conversation.reaction.js';
import { NoteBackgroundWorkHandler } from '../../dialogue/conversation/additions.commands.js';
import { commandsOver } from '../../../test/support/commands-over.js';

const codec = { ...jobCodec, ...monitorCodec };
const ofJob = (type: string): Event => ({ type, data: { jobId: 'j1', conversationId: 'c1' } });
const ofMonitor = (type: string): Event => ({ type, data: { monitorId: 'm1', conversationId: 'c1' } });

let store: InMemoryEventStore;
beforeEach(async () => {
  store = new InMemoryEventStore();
  await askedTurn(store, 'c1', 't1');
});

/** Writes the events of a job or monitor, with only the data that the reaction reads. */
const happened = (stream: string, ...events: Event[]) =>
  new Streams(store, systemTiming).append(stream, 'none', codec, events, cause);
async function react(stream: string, from = 0): Promise<void> {
  const commands = commandsOver(new NoteBackgroundWorkHandler(new Streams(store, systemTiming)));
  const on = { ...new NoteJobsInConversation(commands).on, ...new NoteMonitorsInConversation(commands).on };
  for (const stored of (await eventsOf(store, stream)).slice(from)) {
    const handler = on[stored.type as keyof typeof on] as ((event: Recorded) => Promise<void>) | undefined;
    await handler?.(decode(codec, stored) as Recorded);
  }
}
const noted = async () =>
  (await eventsOf(store, conversationStream('c1')))
    .filter(({ type }) => type === 'BackgroundWorkNoted')
    .map(({ data }) => JSON.parse(data) as BackgroundWorkNoted['data'])
    .map(({ work, status, asOf }) => [work.id, status, asOf]);

it('a conversation notes the status of its jobs and monitors whenever it changes', async () => {
  await happened(jobStream('j1'), ofJob('JobStarted'), ofJob('JobCancelRequested'), ofJob('JobLost'), ofJob('JobReported'));
  await happened(monitorStream('m1'), ofMonitor('MonitorCreated'), ofMonitor('MonitorPaused'), ofMonitor('MonitorResumed'));
  await react(jobStream('j1'));
  await react(monitorStream('m1'));
  const all = [
    ['j1', 'active', 0],
    ['j1', 'failed', 2],
    ['m1', 'active', 0],
    ['m1', 'over', 1],
    ['m1', 'active', 2],
  ];
  expect(await noted()).toEqual(all);
  await react(jobStream('j1'));
  await react(monitorStream('m1'), 1);
  expect(await noted()).toEqual(all);
});

it.each([
  ['JobCompleted', 'over'],
  ['JobCancelled', 'over'],
  ['JobFailed', 'failed'],
  ['JobLost', 'failed'],
])('after %s a job is noted as %s', async (type, status) => {
  await happened(jobStream('j1'), ofJob('JobStarted'), ofJob(type));
  await react(jobStream('j1'));
  expect((await noted()).at(-1)).toEqual(['j1', status, 1]);
});

it.each(['MonitorPaused', 'MonitorCompleted', 'MonitorCancelled'])('after %s a monitor is noted as over', async (type) => {
  await happened(monitorStream('m1'), ofMonitor('MonitorCreated'), ofMonitor(type));
  await react(monitorStream('m1'));
  expect((await noted()).at(-1)).toEqual(['m1', 'over', 1]);
});

it('nothing is noted in a conversation that is gone', async () => {
  await happened(jobStream('j1'), { type: 'JobFailed', data: { jobId: 'j1', conversationId: 'c9' } });
  await react(jobStream('j1'));
  expect(await eventsOf(store, conversationStream('c9'))).toEqual([]);
});
