import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { agentCodec } from '../agent.codec.js';
import { agent } from '../agent.decider.js';
import type { AgentDeleted } from '../agent.events.js';
import { ReleaseAgentSlugs } from './agent-slugs.commands.js';

/** Releases the slugs of a deleted agent. Step 1 finds its owner, step 2 releases. A crash in between repeats both. */
@Injectable()
export class ReleaseSlugs implements Reaction<AgentDeleted> {
  readonly name = 'release-slugs';
  readonly categories = ['agent'];
  readonly codec: Codec<AgentDeleted> = agentCodec;
  readonly on = { AgentDeleted: (event: Recorded<AgentDeleted>) => this.release(event) };

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
  ) {}

  private async release(event: Recorded<AgentDeleted>): Promise<void> {
    const { state } = await this.streams.fold(event.stream, agent);
    const cause = causedBy(event, `system:${this.name}`);
    await this.commands.execute(new ReleaseAgentSlugs(state.ownerId, event.data.agentId, undefined, cause));
  }
}
