import type { TurnId } from './conversation.events.js';

/** What is signalled when a turn is to stop: whoever runs it looks at its conversation. */
export const stopSubject = (turnId: TurnId): string => `turn.stop.${turnId}`;
