import { Injectable } from '@nestjs/common';
import { jobCodec } from '../../background/jobs/job.codec.js';
import type { JobEvent } from '../../background/jobs/job.events.js';
import { type Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction, ReactionHandlers } from '../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { monitorCodec } from '../../triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../triggers/monitors/monitor/monitor.events.js';
import { noteWork } from './background-work.decider.js';
import { conversation } from './conversation.decider.js';
import { type BackgroundWork, type BackgroundWorkNoted, conversationStream } from './conversation.events.js';

type Standing = BackgroundWorkNoted['data']['standing'];

const JOBS = {
  JobStarted: 'active',
  JobCompleted: 'over',
  JobCancelled: 'over',
  JobFailed: 'failed',
  JobLost: 'failed',
} as const satisfies Partial<Record<JobEvent['type'], Standing>>;

const MONITORS = {
  MonitorCreated: 'active',
  MonitorResumed: 'active',
  MonitorPaused: 'over',
  MonitorCompleted: 'over',
  MonitorCancelled: 'over',
} as const satisfies Partial<Record<MonitorEvent['type'], Standing>>;

type JobNews = Extract<JobEvent, { type: keyof typeof JOBS }>;
type MonitorNews = Extract<MonitorEvent, { type: keyof typeof MONITORS }>;

/**
 * States in a conversation how the work beside it stands, so that all it shows of itself is in one stream and in one order. One
 * step: the append. A crash after it repeats it, and what was noted before is nothing new, also when the conversation was opened since.
 */
@Injectable()
export class NoteBackgroundWork implements Reaction<JobEvent | MonitorEvent> {
  readonly name = 'note-background-work';
  readonly categories = ['job', 'monitor'];
  readonly codec: Codec<JobEvent | MonitorEvent> = { ...jobCodec, ...monitorCodec };
  readonly on: ReactionHandlers<JobEvent | MonitorEvent>;

  constructor(private readonly streams: Streams) {
    const ofJob = (event: Recorded<JobNews>) => this.note(event, { kind: 'job', id: event.data.jobId }, JOBS[event.type]);
    const ofMonitor = (event: Recorded<MonitorNews>) =>
      this.note(event, { kind: 'monitor', id: event.data.monitorId }, MONITORS[event.type]);
    this.on = Object.fromEntries([
      ...Object.keys(JOBS).map((type) => [type, ofJob]),
      ...Object.keys(MONITORS).map((type) => [type, ofMonitor]),
    ]) as ReactionHandlers<JobEvent | MonitorEvent>;
  }

  private async note(event: Recorded<JobNews | MonitorNews>, work: BackgroundWork, standing: Standing): Promise<void> {
    const { conversationId } = event.data;
    const noted = { conversationId, work, standing, asOf: event.revision };
    const cause = causedBy(event, `system:${this.name}`);
    await this.streams.transact(conversationStream(conversationId), conversation, noteWork(noted), cause);
  }
}
