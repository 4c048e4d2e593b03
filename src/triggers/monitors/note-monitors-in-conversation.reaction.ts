import { Injectable } from '@nestjs/common';
import { NoteBackgroundWork } from '../../dialogue/conversation/background-work.commands.js';
import type { BackgroundWorkNoted } from '../../dialogue/conversation/conversation.events.js';
import { Commands } from '../../kernel/commands.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction, ReactionHandlers } from '../../kernel/event-sourcing/reaction.js';
import { monitorCodec } from './monitor/monitor.codec.js';
import type { MonitorEvent } from './monitor/monitor.events.js';

type Standing = BackgroundWorkNoted['data']['standing'];

const STANDINGS = {
  MonitorCreated: 'active',
  MonitorResumed: 'active',
  MonitorPaused: 'over',
  MonitorCompleted: 'over',
  MonitorCancelled: 'over',
} as const satisfies Partial<Record<MonitorEvent['type'], Standing>>;

type Told = Extract<MonitorEvent, { type: keyof typeof STANDINGS }>;

/** Has a conversation state how its monitors stand. One step: the command. A crash after it repeats it, and what was noted before is nothing new. */
@Injectable()
export class NoteMonitorsInConversation implements Reaction<MonitorEvent> {
  readonly name = 'note-monitors-in-conversation';
  readonly categories = ['monitor'];
  readonly codec = monitorCodec;
  readonly on: ReactionHandlers<MonitorEvent>;

  constructor(private readonly commands: Commands) {
    const note = (event: Recorded<Told>) => this.note(event);
    this.on = Object.fromEntries(Object.keys(STANDINGS).map((type) => [type, note]));
  }

  private note(event: Recorded<Told>): Promise<void> {
    const { monitorId, conversationId } = event.data;
    const standing = STANDINGS[event.type];
    const noted = { conversationId, work: { kind: 'monitor', id: monitorId }, standing, asOf: event.revision } as const;
    return this.commands.execute(new NoteBackgroundWork(noted, causedBy(event, `system:${this.name}`)));
  }
}
