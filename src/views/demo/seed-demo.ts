import { Injectable, Logger } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { BLANK_AGENT } from '../../resources/agents/agent.policy.js';
import { agentStream } from '../../resources/agents/agent.events.js';
import { CreateAgent } from '../../resources/agents/agent.commands.js';
import { AgentKeyDirectory } from '../../resources/identity/agent-key-directory.port.js';
import { agentKeyHash } from '../../resources/identity/agent-keys.policy.js';
import { EventStore, lastEvent, LOG_START, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { LOG_CATEGORY } from '../../kernel/event-sourcing/log-format.events.js';
import { LOG_SEALS_CATEGORY } from '../../work/log-seals/log-seals.events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import { deterministicId, newId } from '../../kernel/ids.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { Timing } from '../../kernel/timing.js';
import { seedingTask, SeedSource } from '../../resources/sources/seed-source.js';
import { sourceStream } from '../../resources/sources/source/source.events.js';
import { isTaskOver, taskStream } from '../../work/tasks/task.events.js';
import { isWorkerAlive } from '../../work/tasks/worker-presence.js';
import { demoDocuments } from './demo-documents.js';

/** The key of the demo agent. Only for trying out the service. */
export const DEMO_KEY = 'demo';
const OWNER = 'local';
const AGENT_ID = deterministicId('demo', 'agent');
const SOURCE_ID = deterministicId('demo', 'source');
/** Sections of at least this size are chunks of their own, so that an answer cites the right section. */
const SECTION_TOKENS_MIN = 40;
/** The maximum time that one attempt waits until the documents are searchable. */
const INGESTION_WAIT_MS = 60_000;
const INGESTION_POLL_MS = 100;

/**
 * Creates a published agent with this project's documentation, once and only in an empty store. Several processes may do so at
 * the same time, and one finishes what another left unfinished. A deleted demo agent is not created again.
 */
@Injectable()
export class SeedDemo {
  private readonly logger = new Logger(SeedDemo.name);

  constructor(
    private readonly store: EventStore,
    private readonly commands: Commands,
    private readonly sources: SeedSource,
    private readonly freshness: Freshness,
    private readonly keys: AgentKeyDirectory,
    private readonly keyValue: KeyValue,
    private readonly timing: Timing,
  ) {}

  /** Resolves to whether there is a usable demo agent, after its key is valid and its documents are searchable. */
  async seed(signal: AbortSignal): Promise<boolean> {
    const last = await lastEvent(this.store, agentStream(AGENT_ID));
    if (last?.type === 'AgentDeleted' || (!last && !(await this.isWanted()))) return false;
    await requireReached(this.freshness, ['agents'], last?.position ?? (await this.make()));
    const holder = await this.keys.byHash(agentKeyHash(DEMO_KEY));
    if (holder?.agentId !== AGENT_ID) return false;
    await this.ingested(signal);
    return true;
  }

  /**
   * Whether the service is unused: after the declaration of its format, the log is empty or begins with the demo's own source.
   */
  private async isWanted(): Promise<boolean> {
    for await (const { events } of this.store.readAll({
      after: LOG_START,
      filter: { exceptCategories: [LOG_CATEGORY, LOG_SEALS_CATEGORY] },
      limit: 1,
    })) {
      if (events.length > 0) return events[0]!.stream === sourceStream(SOURCE_ID);
    }
    return true;
  }

  private async make(): Promise<bigint> {
    const id = newId();
    const cause: Cause = { actor: 'system:seed-demo', credential: 'system', correlationId: id, causationId: id };
    const source = { sourceId: SOURCE_ID, ownerId: OWNER, name: 'Verbatim documentation', sectionTokensMin: SECTION_TOKENS_MIN };
    await this.sources.seed(source, await demoDocuments(), cause);
    const configuration = {
      ...BLANK_AGENT,
      name: 'Demo',
      description: 'Answers questions about Verbatim from its own documentation.',
      source: SOURCE_ID,
    };
    const wanted = { configuration, status: 'published', id: AGENT_ID, key: DEMO_KEY } as const;
    const { position } = await this.commands.execute(new CreateAgent(OWNER, wanted, cause));
    return position!;
  }

  /** Waits until a worker has ingested the documents. @throws Error if no worker is alive or it takes too long */
  private async ingested(signal: AbortSignal): Promise<void> {
    const over = (await this.ingestionEnd()) ?? (await this.awaitedIngestionEnd(signal));
    if (over.type === 'TaskFailed')
      this.logger.warn('The documents of the demo could not be ingested: it answers without sources.');
    await requireReached(this.freshness, ['chunks', 'sources', 'tasks'], over.position);
  }

  private async awaitedIngestionEnd(signal: AbortSignal): Promise<StoredEvent> {
    if (!(await isWorkerAlive(this.keyValue))) throw new Error('No worker is alive to ingest its documents.');
    const begun = this.timing.elapsedMs();
    while (!signal.aborted && this.timing.elapsedMs() - begun < INGESTION_WAIT_MS) {
      await this.timing.pause(INGESTION_POLL_MS, signal);
      const over = await this.ingestionEnd();
      if (over) return over;
    }
    throw new Error(`Its documents were not ingested within ${INGESTION_WAIT_MS} ms.`);
  }

  /** The event that ended the ingestion, if any. */
  private async ingestionEnd(): Promise<StoredEvent | undefined> {
    const newest = await lastEvent(this.store, taskStream(seedingTask(SOURCE_ID)));
    return newest && isTaskOver(newest.type) ? newest : undefined;
  }
}
