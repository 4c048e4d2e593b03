import type { TurnId, TurnsSuperseded, TurnWithdrawn } from './conversation.events.js';

/** A turn in its conversation. One that is superseded no longer counts, and its index means nothing. */
type CountedTurn = Readonly<{ index: number; superseded: boolean }>;

/** The turns of a conversation after some of them have left it: those are superseded, and what follows a withdrawn turn moves up. */
export function afterLeaving<T extends CountedTurn>(
  turns: ReadonlyMap<TurnId, T>,
  { type, data }: TurnsSuperseded | TurnWithdrawn,
): ReadonlyMap<TurnId, T> {
  const left: ReadonlySet<TurnId> = new Set(type === 'TurnWithdrawn' ? [data.turnId] : data.turnIds);
  const gap = type === 'TurnWithdrawn' ? (turns.get(data.turnId)?.index ?? Infinity) : Infinity;
  const after = (turnId: TurnId, turn: T): T => {
    if (left.has(turnId)) return { ...turn, superseded: true };
    return turn.superseded || turn.index < gap ? turn : { ...turn, index: turn.index - 1 };
  };
  return new Map([...turns].map(([turnId, turn]) => [turnId, after(turnId, turn)]));
}
