import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { wakesCodec } from './wakes.codec.js';
import type { WakeId, WakeRequested, WakesEvent, WakesGathered } from './wakes.events.js';

/** Wakes that one turn tells of. */
export const WAKES_PER_TURN_MAX = 8;
/** Wakes of a conversation that wait to be told. */
export const WAKES_WAITING_MAX = 64;

/** What decisions need to know of a conversation's wakes. */
export type WakesOfConversation = Readonly<{
  dedupeKeys: ReadonlySet<string>;
  /** Those that nothing has become of yet, the oldest first. */
  pending: ReadonlyMap<WakeId, WakeRequested['data']>;
  /** What is to be told next. */
  gathered: WakesGathered['data'] | null;
}>;

type Decide = Decision<WakesOfConversation, WakesEvent>;

const initial: WakesOfConversation = { dedupeKeys: new Set(), pending: new Map(), gathered: null };

export const wakes: Aggregate<WakesOfConversation, WakesEvent> = { initial, evolve, codec: wakesCodec };

function evolve(state: WakesOfConversation, event: WakesEvent): WakesOfConversation {
  switch (event.type) {
    case 'WakeRequested':
      return {
        ...state,
        dedupeKeys: new Set(state.dedupeKeys).add(event.data.dedupeKey),
        pending: new Map(state.pending).set(event.data.wakeId, event.data),
      };
    case 'WakesGathered':
      return { ...state, gathered: event.data };
    case 'WakeDelivered':
    case 'WakeFolded':
    case 'WakeSuppressed':
    case 'WakeSuperseded':
    case 'WakeFailed':
      return settled(state, event.data.wakeId);
  }
}

function settled(state: WakesOfConversation, wakeId: WakeId): WakesOfConversation {
  const pending = new Map([...state.pending].filter(([id]) => id !== wakeId));
  const isToldNext = state.gathered?.wakeIds.some((id) => pending.has(id)) ?? false;
  return { ...state, pending, gathered: isToldNext ? state.gathered : null };
}

/** Something has happened: once, whoever says so how often. */
export const request =
  (wake: WakeRequested['data']): Decide =>
  ({ dedupeKeys, pending }) => {
    if (dedupeKeys.has(wake.dedupeKey)) return [];
    const { conversationId, wakeId } = wake;
    const isTooMuch = pending.size >= WAKES_WAITING_MAX;
    const suppressed: WakesEvent = { type: 'WakeSuppressed', data: { conversationId, wakeId, reason: 'too-many-waiting' } };
    return [{ type: 'WakeRequested', data: wake }, ...(isTooMuch ? [suppressed] : [])];
  };

/** The wakes that one turn is to tell of: the oldest, and those of the same owner that came since. */
export function toGather({ pending }: WakesOfConversation): readonly WakeId[] {
  const [oldest, ...others] = pending.values();
  const together = others.filter(({ ownerId }) => ownerId === oldest?.ownerId);
  return [...(oldest ? [oldest] : []), ...together].slice(0, WAKES_PER_TURN_MAX).map(({ wakeId }) => wakeId);
}

/** One turn at a time, which tells of each once: whoever gathers others while one waits to be asked finds those gathered that are. */
export const gather =
  (gathered: WakesGathered['data']): Decide =>
  ({ gathered: before, pending }) => {
    const wakeIds = [...new Set(gathered.wakeIds)];
    if (before !== null || wakeIds.length === 0 || !wakeIds.every((id) => pending.has(id))) return [];
    return [{ type: 'WakesGathered', data: { ...gathered, wakeIds } }];
  };

/** What the conversation made of them. */
export type Settlement =
  Readonly<{ standing: 'asked' | 'gone' | 'too-many-in-a-row' }> | Readonly<{ standing: 'refused'; error: string }>;

/** Nothing more is to become of the wakes that were gathered for a turn. */
export const settle =
  (turnId: string, settlement: Settlement): Decide =>
  ({ gathered, pending }) =>
    gathered?.turnId === turnId
      ? gathered.wakeIds
          .filter((wakeId) => pending.has(wakeId))
          .map((wakeId, place) => settledAs({ conversationId: gathered.conversationId, wakeId }, place, turnId, settlement))
      : [];

function settledAs(
  about: Readonly<{ conversationId: string; wakeId: WakeId }>,
  place: number,
  turnId: string,
  settlement: Settlement,
): WakesEvent {
  switch (settlement.standing) {
    case 'asked':
      return { type: place === 0 ? 'WakeDelivered' : 'WakeFolded', data: { ...about, turnId } };
    case 'gone':
      return { type: 'WakeSuperseded', data: about };
    case 'too-many-in-a-row':
      return { type: 'WakeSuppressed', data: { ...about, reason: 'too-many-in-a-row' } };
    case 'refused':
      return { type: 'WakeFailed', data: { ...about, error: settlement.error } };
  }
}
