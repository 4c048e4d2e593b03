import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';

/** The kinds of texts that models write and read again in later turns. */
export type NotebookKind = 'memory' | 'notes' | 'todoList';

/** The user and agent whose notebook it is. */
export type Keeper = Readonly<{ ownerId: string; agentId: string | null }>;

/** The tool call that makes a change. */
export type Call = Readonly<{ turnId: string; callId: string }>;

/** The number of calls by which a repeated call is recognized. */
export const CALLS_REMEMBERED_MAX = 200;

/**
 * A user has one notebook of each kind with each agent, and one for all chats without an agent. The tool does not matter: if it
 * is deleted and set up again, it finds the same notebook.
 */
export const notebookId = (kind: NotebookKind, { ownerId, agentId }: Keeper): string =>
  deterministicId('notebook', kind, ownerId, agentId ?? '');

/** The common part of the states of all kinds. */
export type NotebookState = Readonly<{
  /** Null until the first change. */
  ownerId: string | null;
  /** The latest calls that changed something, oldest first. */
  calls: readonly string[];
}>;

const keyOf = ({ turnId, callId }: Call): string => `${turnId}/${callId}`;

export const withCall = (calls: readonly string[], call: Call): readonly string[] =>
  [...calls, keyOf(call)].slice(-CALLS_REMEMBERED_MAX);

/** Applies a change only once per call. The first change also starts the notebook. */
export const once =
  <State extends NotebookState, E extends Event>(call: Call, started: E, decide: (state: State) => readonly E[]) =>
  (state: State): readonly E[] => {
    if (state.calls.includes(keyOf(call))) return [];
    const events = decide(state);
    return events.length > 0 && state.ownerId === null ? [started, ...events] : events;
  };

/** The rejection of a change, in words for the model. */
export const refused = (message: string): Rejection => new Rejection('tool-call-refused', message);
