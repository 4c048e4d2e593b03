import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { WorkflowEvent } from './workflow.events.js';

export const workflowCodec: Codec<WorkflowEvent> = { WorkflowCreated: [], WorkflowChanged: [], WorkflowDeleted: [] };
