import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Blobs } from '../../kernel/blobs.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { workflowCodec } from './workflow.codec.js';
import { type PinnedWorkflow, type StoredGraph, type WorkflowEvent, workflowStream } from './workflow.events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';
import { WorkflowGraphs } from './workflow-graphs.port.js';

const INLINE_BYTES_MAX = 64 * 1024;

/**
 * The content of a blob. It includes the keeper, so that equal graphs of two keepers are two blobs and each can be deleted with
 * its keeper.
 */
type Own = Readonly<{ keeper: string; graph: WorkflowGraph }>;

/** Reads graphs from the streams of workflows, and large ones from blobs. */
@Injectable()
export class StoredWorkflowGraphs extends WorkflowGraphs {
  constructor(
    private readonly events: EventStore,
    private readonly blobs: Blobs,
  ) {
    super();
  }

  async graphAt(workflowId: string, version: number): Promise<WorkflowGraph | undefined> {
    // An event creates at most one version, so no event before this revision can hold it.
    for await (const page of this.events.read(workflowStream(workflowId), { from: version - 1 })) {
      for (const stored of page) {
        const event = decode<WorkflowEvent>(workflowCodec, stored);
        if (!event || event.type === 'WorkflowDeleted') continue;
        if (event.data.version === version) return this.load(event.data.graph);
      }
    }
    return undefined;
  }

  async pinned(pinned: PinnedWorkflow): Promise<WorkflowGraph | undefined> {
    return 'draft' in pinned ? this.load(pinned.draft) : this.graphAt(pinned.id, pinned.version);
  }

  async store(keeper: string, graph: WorkflowGraph): Promise<StoredGraph> {
    if (Buffer.byteLength(JSON.stringify(graph)) <= INLINE_BYTES_MAX) return { inline: graph };
    const own = JSON.stringify({ keeper, graph } satisfies Own);
    return { blob: await this.blobs.put(Readable.from([Buffer.from(own)])), isOwn: true };
  }

  private async load(stored: StoredGraph): Promise<WorkflowGraph> {
    if ('inline' in stored) return stored.inline;
    return (JSON.parse(await text(await this.blobs.get(stored.blob.sha256))) as Own).graph;
  }
}
