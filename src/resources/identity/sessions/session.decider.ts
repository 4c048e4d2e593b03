import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { sessionCodec } from './session.codec.js';
import type { SessionEnded, SessionEvent, SessionStarted, SignInRefused } from './session.events.js';

/** The state of a session or of a refused sign-in. */
export type SessionStage = 'none' | 'started' | 'ended' | 'refused';

const STAGES = { SessionStarted: 'started', SessionEnded: 'ended', SignInRefused: 'refused' } as const;

export const session: Aggregate<SessionStage, SessionEvent> = {
  initial: 'none',
  evolve: (_, { type }) => STAGES[type],
  codec: sessionCodec,
};

/** Records an event of a session once. */
export const state =
  (event: SessionStarted | SessionEnded | SignInRefused): Decision<SessionStage, SessionEvent> =>
  (stage) =>
    stage === 'none' || (stage === 'started' && event.type === 'SessionEnded') ? [event] : [];
