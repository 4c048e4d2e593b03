import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { deterministicId, newId } from '../../../kernel/ids.js';
import type { SourceConfig } from './source-config.policy.js';
import { credentialsOf, source } from './source.decider.js';
import { type SourceCreated, sourceStream } from './source.events.js';
import { addRemoteSource, fallDue, ingestAgain, setSyncFrequency } from './sync.decider.js';
import type { SyncFrequency } from './sync.policy.js';

/** The credentials that the source refers to. They differ from the command's if the source existed before. */
type Added = Readonly<{ position: bigint | undefined; credentialsId: string | null }>;

/** Creates a remote source and requests its ingestion. The caller chooses the ids, so the command can be repeated. */
export class AddRemoteSource extends Command<Added> {
  constructor(
    readonly created: SourceCreated['data'],
    readonly ingestId: string,
    readonly frequency: SyncFrequency,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AddRemoteSource)
class AddRemoteSourceHandler implements Handler<AddRemoteSource> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ created, ingestId, frequency, cause }: AddRemoteSource): Promise<Added> {
    const decide = addRemoteSource(created, ingestId, frequency, this.clock.now());
    const { state, position } = await this.streams.transact(sourceStream(created.sourceId), source, decide, cause);
    return { position, credentialsId: credentialsOf(state) };
  }
}

/** Sets how often the pages of a source are fetched again. */
export class SetSyncFrequency extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly frequency: SyncFrequency,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(SetSyncFrequency)
class SetSyncFrequencyHandler implements Handler<SetSyncFrequency> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ sourceId, ownerId, frequency, cause }: SetSyncFrequency): Promise<{ position: bigint | undefined }> {
    const decide = setSyncFrequency(sourceId, ownerId, frequency, this.clock.now());
    const { position } = await this.streams.transact(sourceStream(sourceId), source, decide, cause);
    return { position };
  }
}

/** The requested ingestion, or the one that was already running, and the config. */
type Again = Readonly<{ ingestId: string; config: SourceConfig; position: bigint | undefined }>;

/** Requests another ingestion of a source. */
export class IngestAgain extends Command<Again> {
  constructor(
    readonly sourceId: string,
    readonly ownerId: string,
    readonly which: 'of-pages' | 'of-any-kind',
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(IngestAgain)
class IngestAgainHandler implements Handler<IngestAgain> {
  constructor(private readonly streams: Streams) {}

  async execute({ sourceId, ownerId, which, cause }: IngestAgain): Promise<Again> {
    const ingestId = newId();
    const decide = ingestAgain(sourceId, ownerId, ingestId, which);
    const { state, position } = await this.streams.transact(sourceStream(sourceId), source, decide, cause);
    return { ingestId: state.ingest?.ingestId ?? ingestId, config: state.config, position };
  }
}

/** Begins a sync if it is due. */
export class BeginDueSync extends Command<void> {
  constructor(
    readonly sourceId: string,
    /** The due time as an ISO string, as in the source's event. */
    readonly dueAt: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(BeginDueSync)
export class BeginDueSyncHandler implements Handler<BeginDueSync> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ sourceId, dueAt, cause }: BeginDueSync): Promise<void> {
    const decide = fallDue(sourceId, deterministicId('sync', sourceId, dueAt), dueAt, this.clock.now());
    await this.streams.transact(sourceStream(sourceId), source, decide, cause);
  }
}

export const syncHandlers = [AddRemoteSourceHandler, BeginDueSyncHandler, IngestAgainHandler, SetSyncFrequencyHandler];
