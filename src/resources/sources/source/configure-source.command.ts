import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { configureSource, needsIngestion } from './source-config.decider.js';
import type { GivenSourceConfig, SourceConfig } from './source-config.policy.js';
import { source } from './source.decider.js';
import { sourceStream } from './source.events.js';

/** The config a source has now, and whether what is searched is still cut otherwise. */
type Configured = Readonly<{ config: SourceConfig; needsIngestion: boolean; position: bigint | undefined }>;

/** Says anew how a source is cut and searched. */
export class ConfigureSource extends Command<Configured> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly given: GivenSourceConfig,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ConfigureSource)
export class ConfigureSourceHandler implements ICommandHandler<ConfigureSource> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ownerId, given, cause }: ConfigureSource): Promise<Configured> {
    const decide = configureSource(sourceId, ownerId, given);
    const { state, position } = await this.streams.transact(sourceStream(sourceId), source, decide, cause);
    return { config: state.config, needsIngestion: needsIngestion(state), position };
  }
}
