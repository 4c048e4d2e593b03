import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { AgentId } from '../agent.events.js';
import { accept, agentImport, type AgentImportState, finish, prepare } from './agent-import.decider.js';
import { type AgentImportAccepted, type AgentImportId, agentImportStream, type ImportPart } from './agent-import.events.js';

/** Maximum bytes of parts in one append. The rest of an append is for the other fields of the events. */
const PARTS_BYTES_MAX = 400 * 1024;

/** Accepts the import of a file. Resolves to the state of the import, also if an earlier command has accepted it. */
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

/** Records that all steps of an import are done. */
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
