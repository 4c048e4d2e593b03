import { CommandHandler } from '@nestjs/cqrs';
import type { Family } from '../../kernel/access.js';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { change, type ResourceSettings, resourceSettings } from './resource-settings.decider.js';
import { resourceSettingsStream } from './resource-settings.events.js';

/** Changes what the grants of a resource allow. The sender has checked that the user owns the resource. */
export class ChangeResourceSettings extends Command<bigint | undefined> {
  constructor(
    readonly thing: Readonly<{ family: Family; resourceId: string }>,
    readonly switches: ResourceSettings,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeResourceSettings)
export class ChangeResourceSettingsHandler implements Handler<ChangeResourceSettings> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ thing, switches, cause }: ChangeResourceSettings): Promise<bigint | undefined> {
    const stream = resourceSettingsStream(thing.family, thing.resourceId);
    return (await this.streams.transact(stream, resourceSettings, change(thing, switches, this.clock.now()), cause)).position;
  }
}
