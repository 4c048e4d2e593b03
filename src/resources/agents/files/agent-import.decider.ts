import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import type { AgentId } from '../agent.events.js';
import { agentImportCodec } from './agent-import.codec.js';
import type { AgentImportAccepted, AgentImportEvent, AgentImportId, ImportPart } from './agent-import.events.js';

export type AgentImportState = Readonly<{
  status: 'none' | 'prepared' | 'accepted' | 'finished';
  parts: readonly ImportPart[];
  accepted: AgentImportAccepted['data'] | null;
  /** The agent that was created or changed. Null until the import is finished. */
  agentId: AgentId | null;
}>;

const initial: AgentImportState = { status: 'none', parts: [], accepted: null, agentId: null };

export const agentImport: Aggregate<AgentImportState, AgentImportEvent> = {
  initial,
  evolve: (state, event) => {
    switch (event.type) {
      case 'AgentImportPrepared':
        // An abandoned attempt may have recorded parts too, which this one replaces.
        return { ...state, status: 'prepared', parts: [...state.parts.slice(0, event.data.after), ...event.data.parts] };
      case 'AgentImportAccepted':
        return { ...state, status: 'accepted', accepted: event.data };
      case 'AgentImportFinished':
        return { ...state, status: 'finished', agentId: event.data.agentId };
    }
  },
  codec: agentImportCodec,
};

type Decide = Decision<AgentImportState, AgentImportEvent>;

const isOpen = ({ status }: AgentImportState): boolean => status === 'none' || status === 'prepared';

/** Records parts that the import will create. */
export const prepare =
  (importId: AgentImportId, ownerId: string, after: number, parts: readonly ImportPart[]): Decide =>
  (state) =>
    isOpen(state) && parts.length > 0 ? [{ type: 'AgentImportPrepared', data: { importId, ownerId, after, parts } }] : [];

/** Accepts the import and records its remaining parts. An import that has been accepted already does not change. */
export const accept =
  (data: AgentImportAccepted['data'], after: number, parts: readonly ImportPart[]): Decide =>
  (state) =>
    isOpen(state) ? [...prepare(data.importId, data.ownerId, after, parts)(state), { type: 'AgentImportAccepted', data }] : [];

export const finish =
  (importId: AgentImportId, agentId: AgentId): Decide =>
  ({ status }) =>
    status === 'accepted' ? [{ type: 'AgentImportFinished', data: { importId, agentId } }] : [];
