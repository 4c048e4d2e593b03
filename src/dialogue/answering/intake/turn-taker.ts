import type { Transcript } from '../loop/transcript.js';
import type { FoldedConversation } from '../../conversation/turn.commands.js';

/** A turn that was asked and taken in one append. */
export type TakenTurn = Readonly<{ transcript: Transcript; claimed: FoldedConversation }>;

/** Room for one turn. It is used once: to run a turn, or not at all. */
export type Seat = Readonly<{
  /** Who runs the turn. */
  producer: string;
  /** What the turn is going to be, as soon as its append succeeds; another once that lost a race and was decided on anew. */
  foresee: (transcript: Transcript) => void;
  run: (taken: TakenTurn) => void;
  leave: () => void;
}>;

/** Whether this process runs turns that it accepts itself. What it has no room for waits in the queue for a worker. */
export abstract class TurnTaker {
  /**
   * Room for a turn that is about to be asked, kept from now on; undefined where there is none. Whether it was asked may be unknown
   * for long: meanwhile this process neither runs the turn nor takes it for abandoned.
   */
  abstract seat(turnId: string): Seat | undefined;
}
