import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';

/** What models write for themselves from one turn to the next. */
export type NotebookKind = 'memory' | 'notes' | 'todoList';

/** Whose notebook it is. */
export type Keeper = Readonly<{ ownerId: string; agentId: string | null }>;

/** The call of a tool that a change was made by. */
export type Call = Readonly<{ turnId: string; callId: string }>;

/** A call is known again as long as not so many others have changed the notebook since. */
export const CALLS_REMEMBERED_MAX = 200;

/**
 * A user has one notebook of a kind with each agent, and one for all chats without an agent. Which tool leads there does
 * not matter: one that is deleted and set up again finds what it wrote.
 */
export const notebookId = (kind: NotebookKind, { ownerId, agentId }: Keeper): string =>
  deterministicId('notebook', kind, ownerId, agentId ?? '');

/** What the states of all kinds have in common. */
export type NotebookState = Readonly<{
  /** Without an owner until the first change. */
  ownerId: string | null;
  /** The latest calls that changed something, oldest first. */
  calls: readonly string[];
}>;

const keyOf = ({ turnId, callId }: Call): string => `${turnId}/${callId}`;

export const withCall = (calls: readonly string[], call: Call): readonly string[] =>
  [...calls, keyOf(call)].slice(-CALLS_REMEMBERED_MAX);

/** A change that a call makes once: asked again it is already so, and the first one ever starts the notebook. */
export const once =
  <State extends NotebookState, E extends Event>(call: Call, started: E, decide: (state: State) => readonly E[]) =>
  (state: State): readonly E[] => {
    if (state.calls.includes(keyOf(call))) return [];
    const events = decide(state);
    return events.length > 0 && state.ownerId === null ? [started, ...events] : events;
  };

/** A change that cannot be made, in words that the model can act on. */
export const refused = (message: string): Rejection => new Rejection('tool-call-refused', message);
