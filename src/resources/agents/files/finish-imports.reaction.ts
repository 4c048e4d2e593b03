import { Injectable } from '@nestjs/common';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { onBehalf, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { agentImportCodec } from './agent-import.codec.js';
import type { AgentImportAccepted } from './agent-import.events.js';
import { AgentImports } from './agent-imports.process.js';

/**
 * Completes each accepted import, also if the process that accepted it has crashed. Repeating this is safe. The request does the
 * same at the same time, so both act in the name of the user, and the log does not depend on which of them is faster.
 */
@Injectable()
export class FinishImports implements Reaction<AgentImportAccepted> {
  readonly name = 'finish-agent-imports';
  readonly categories = ['agentImport'];
  readonly codec: Codec<AgentImportAccepted> = agentImportCodec;
  readonly on = {
    AgentImportAccepted: async (event: Recorded<AgentImportAccepted>) => {
      await this.imports.complete(event.data.importId, onBehalf(event));
    },
  };

  constructor(private readonly imports: AgentImports) {}
}
