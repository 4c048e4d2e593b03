/** A turn by its ids. */
export type TurnToRun = Readonly<{ conversationId: string; turnId: string }>;

/** Reads the frames of a turn after a revision (-1: from the first on), past and live, until its run ends or the reader is gone. */
export abstract class FrameTail {
  abstract tail(
    turn: TurnToRun,
    after: number,
    signal: AbortSignal,
  ): AsyncIterable<Readonly<{ text: string; data: readonly string[] }>>;
}
