import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { defaultTools, switchDefault } from './default-tools.decider.js';
import { defaultToolsStream } from './default-tools.events.js';

/** A user switches a default tool on or off. */
export class SwitchDefaultTool extends Command<bigint | undefined> {
  constructor(
    readonly userId: string,
    readonly name: string,
    readonly on: boolean,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(SwitchDefaultTool)
export class SwitchDefaultToolHandler implements Handler<SwitchDefaultTool> {
  constructor(private readonly streams: Streams) {}

  async execute({ userId, name, on, cause }: SwitchDefaultTool): Promise<bigint | undefined> {
    const decision = switchDefault(userId, name, on);
    return (await this.streams.transact(defaultToolsStream(userId), defaultTools, decision, cause)).position;
  }
}
