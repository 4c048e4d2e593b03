import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { BLANK_AGENT } from '../agents/agent.policy.js';
import { agentStream } from '../agents/agent.events.js';
import { CreateAgent } from '../agents/create-agent.command.js';
import { EventStore, firstEvent, lastEvent, LOG_START, STREAM_START } from '../kernel/event-store.js';
import type { Cause } from '../kernel/events.js';
import { Freshness } from '../kernel/freshness.js';
import { deterministicId, newId } from '../kernel/ids.js';
import { SeedSource } from '../sources/seed-source.js';
import { sourceStream } from '../sources/source.events.js';
import { isTaskOver, taskStream } from '../tasks/task.events.js';

/** What the demo agent's key is; good for trying the service out, and for nothing else. */
export const DEMO_KEY = 'demo';
const OWNER = 'local';
const AGENT_ID = deterministicId('demo', 'agent');
const SOURCE_ID = deterministicId('demo', 'source');
/** How long a first start waits for the documents to be searchable before it goes on without. */
const INGESTION_WAIT_MS = 60_000;

/**
 * A published agent over this project's own documentation, made once, on a store that is empty. A start that was cut short
 * is made good by the next; an agent that was deleted stays deleted.
 */
@Injectable()
export class SeedDemo {
  constructor(
    private readonly store: EventStore,
    private readonly commands: CommandBus,
    private readonly sources: SeedSource,
    private readonly freshness: Freshness,
  ) {}

  /** Whether there is a demo agent to be asked. */
  async seed(root = fileURLToPath(new URL('../../..', import.meta.url))): Promise<boolean> {
    const last = await lastEvent(this.store, agentStream(AGENT_ID));
    if (last) return last.type !== 'AgentDeleted';
    const isBegun = (await firstEvent(this.store, sourceStream(SOURCE_ID))) !== undefined;
    if (!isBegun && (await this.store.head()) !== LOG_START) return false;
    const id = newId();
    const cause: Cause = { actor: 'system:seed-demo', credential: 'system', correlationId: id, causationId: id };
    const source = { sourceId: SOURCE_ID, ownerId: OWNER, name: 'Verbatim documentation' };
    const { taskId } = await this.sources.seed(source, await documentsUnder(root), cause);
    const configuration = {
      ...BLANK_AGENT,
      name: 'Demo',
      description: 'Answers questions about Verbatim from its own documentation.',
      source: SOURCE_ID,
    };
    const wanted = { configuration, status: 'published', id: AGENT_ID, key: DEMO_KEY } as const;
    const { position } = await this.commands.execute(new CreateAgent(OWNER, wanted, cause));
    await this.ingested(taskId);
    await this.freshness.reached(['agents', 'chunks'], position);
    return true;
  }

  private async ingested(taskId: string): Promise<void> {
    const giveUp = AbortSignal.timeout(INGESTION_WAIT_MS);
    for await (const page of this.store.follow(taskStream(taskId), STREAM_START, giveUp)) {
      const over = page.find((event) => isTaskOver(event.type));
      if (over) return void (await this.freshness.reached(['chunks', 'sources', 'tasks'], over.position));
    }
  }
}

/** The documentation that lies beside the code. */
async function documentsUnder(root: string): Promise<readonly { path: string; filename: string }[]> {
  const found: string[] = [join(root, 'README.md')];
  for (const folder of ['src', 'projections']) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    found.push(
      ...entries
        .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
        .map((entry) => join(entry.parentPath, entry.name)),
    );
  }
  return found.sort().map((path) => ({ path, filename: relative(root, path).replaceAll('/', '-') || basename(path) }));
}
