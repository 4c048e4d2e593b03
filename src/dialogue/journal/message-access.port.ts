import type { Identity } from '../../resources/identity/identity.js';

/** A message that the caller may read. `expired`: its journal is past its retention; the conversation still has the answer. */
export type ReadableMessage = Readonly<{ messageId: string; conversationId: string; expired: boolean }>;

/**
 * Who may read and stop a message: those to whom its conversation belongs. An unknown message and somebody else's look the same.
 */
export abstract class MessageAccess {
  /** @throws Rejection unauthenticated, unknown-agent-key, message-not-found */
  abstract readable(messageId: string, identity: Identity): Promise<ReadableMessage>;
}
