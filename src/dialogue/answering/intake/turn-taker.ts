import type { Transcript } from '../loop/transcript.js';
import type { FoldedConversation } from '../../conversation/turn.commands.js';

/** A turn that was asked and claimed in one append. */
export type TakenTurn = Readonly<{ transcript: Transcript; claimed: FoldedConversation }>;

/** A seat for one turn. The caller calls `run` or `leave`, once. */
export type Seat = Readonly<{
  /** The producer that runs the turn. */
  producer: string;
  /**
   * Passes the expected transcript of the turn when its append has begun. Called again if the append lost a race and was decided
   * on again. Must not throw.
   */
  expectTranscript: (transcript: Transcript) => void;
  run: (taken: TakenTurn) => void;
  leave: () => void;
}>;

/** Lets this process run turns that it accepts itself. Turns for which it has no seat wait in the queue for a worker. */
export abstract class TurnTaker {
  /**
   * Reserves a seat for a turn that is about to be asked; undefined if none is free. It may take long until the outcome of the
   * append is known. Until then this process neither runs the turn nor considers it abandoned. @throws Rejection shutting-down
   */
  abstract seat(turnId: string): Seat | undefined;
}
