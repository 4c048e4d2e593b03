import { Injectable } from '@nestjs/common';
import { Blobs } from '../../kernel/blobs.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { OwnBlobs } from '../../kernel/own-blobs.js';
import { workflowCodec } from './workflow.codec.js';
import { type PinnedWorkflow, type StoredGraph, type WorkflowEvent, workflowStream } from './workflow.events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';
import { WorkflowGraphs } from './workflow-graphs.port.js';

/** Reads graphs from the streams of workflows, and large ones from blobs. */
@Injectable()
export class StoredWorkflowGraphs extends WorkflowGraphs {
  private readonly own: OwnBlobs<WorkflowGraph>;

  constructor(
    private readonly events: EventStore,
    blobs: Blobs,
  ) {
    super();
    this.own = new OwnBlobs(blobs, 'graph');
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
    const kept = await this.own.keep({ keeper }, graph);
    return 'blob' in kept ? { ...kept, isOwn: true } : kept;
  }

  private async load(stored: StoredGraph): Promise<WorkflowGraph> {
    return 'inline' in stored ? stored.inline : this.own.recall(stored.blob);
  }
}
