import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../kernel/ids.js';
import { clipped } from './wake-text.policy.js';
import { RequestWake } from './wakes.commands.js';
import { type Wake, Wakes } from './wakes.port.js';

/** Writes down what has happened; who delivers it finds it in the log. */
@Injectable()
export class RequestedWakes extends Wakes {
  constructor(private readonly commands: Commands) {
    super();
  }

  async wake({ conversationId, ownerId, source, refId, dedupeKey, text }: Wake, cause: Cause): Promise<void> {
    const wakeId = deterministicId('wake', conversationId, dedupeKey);
    const requested = { conversationId, wakeId, ownerId, source, refId, dedupeKey, text: clipped(text) };
    await this.commands.execute(new RequestWake(requested, cause));
  }
}
