import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { AgentId } from '../agent.events.js';
import { accept, agentImport, type AgentImportState, finish, prepare } from './agent-import.decider.js';
import { type AgentImportAccepted, type AgentImportId, agentImportStream, type ImportPart } from './agent-import.events.js';

/** Of one append; what is left over is for the words around the parts. */
const PARTS_BYTES_MAX = 400 * 1024;

/** A user wants an agent as a file describes it. Resolves to the import as it was accepted, now or before. */
export class AcceptAgentImport extends Command<AgentImportState> {
  constructor(
    readonly accepted: AgentImportAccepted['data'],
    readonly parts: readonly ImportPart[],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AcceptAgentImport)
export class AcceptAgentImportHandler implements Handler<AcceptAgentImport> {
  constructor(private readonly streams: Streams) {}

  async execute({ accepted, parts, cause }: AcceptAgentImport): Promise<AgentImportState> {
    const { importId, ownerId } = accepted;
    const stream = agentImportStream(importId);
    const batches = batchesOf(parts);
    const last = batches.pop() ?? [];
    let named = 0;
    for (const batch of batches) {
      await this.streams.transact(stream, agentImport, prepare(importId, ownerId, named, batch), cause);
      named += batch.length;
    }
    return (await this.streams.transact(stream, agentImport, accept(accepted, named, last), cause)).state;
  }
}

function batchesOf(parts: readonly ImportPart[]): ImportPart[][] {
  const batches: ImportPart[][] = [];
  let bytes = Infinity;
  for (const part of parts) {
    const size = Buffer.byteLength(JSON.stringify(part));
    if (bytes + size > PARTS_BYTES_MAX) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(part);
    bytes += size;
  }
  return batches;
}

/** All that an import was to do is done. */
export class FinishAgentImport extends Command {
  constructor(
    readonly importId: AgentImportId,
    readonly agentId: AgentId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FinishAgentImport)
export class FinishAgentImportHandler implements Handler<FinishAgentImport> {
  constructor(private readonly streams: Streams) {}

  async execute({ importId, agentId, cause }: FinishAgentImport): Promise<void> {
    await this.streams.transact(agentImportStream(importId), agentImport, finish(importId, agentId), cause);
  }
}
