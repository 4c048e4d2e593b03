import { Injectable } from '@nestjs/common';
import { NoteBackgroundWork } from '../../dialogue/conversation/additions.commands.js';
import type { BackgroundWorkNoted } from '../../dialogue/conversation/conversation.events.js';
import { Commands } from '../../kernel/commands.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction, ReactionHandlers } from '../../kernel/event-sourcing/reaction.js';
import { monitorCodec } from './monitor/monitor.codec.js';
import type { MonitorEvent } from './monitor/monitor.events.js';

type WorkStatus = BackgroundWorkNoted['data']['status'];

const STATUSES = {
  MonitorCreated: 'active',
  MonitorResumed: 'active',
  MonitorPaused: 'over',
  MonitorCompleted: 'over',
  MonitorCancelled: 'over',
} as const satisfies Partial<Record<MonitorEvent['type'], WorkStatus>>;

type Noted = Extract<MonitorEvent, { type: keyof typeof STATUSES }>;

/**
 * Records in a conversation whether its monitors are active. One step; a crash after it repeats the command, which then changes
 * nothing.
 */
@Injectable()
export class NoteMonitorsInConversation implements Reaction<MonitorEvent> {
  readonly name = 'note-monitors-in-conversation';
  readonly categories = ['monitor'];
  readonly codec = monitorCodec;
  readonly on: ReactionHandlers<MonitorEvent>;

  constructor(private readonly commands: Commands) {
    const note = (event: Recorded<Noted>) => this.note(event);
    this.on = Object.fromEntries(Object.keys(STATUSES).map((type) => [type, note]));
  }

  private note(event: Recorded<Noted>): Promise<void> {
    const { monitorId, conversationId } = event.data;
    const status = STATUSES[event.type];
    const noted = { conversationId, work: { kind: 'monitor', id: monitorId }, status, asOf: event.revision } as const;
    return this.commands.execute(new NoteBackgroundWork(noted, causedBy(event, `system:${this.name}`)));
  }
}
