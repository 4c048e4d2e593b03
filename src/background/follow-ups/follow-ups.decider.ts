import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { followUpsCodec } from './follow-ups.codec.js';
import type { FollowUpId, FollowUpRequested, FollowUpsEvent, FollowUpsGathered } from './follow-ups.events.js';

/** Maximum number of follow-ups that one turn reports. */
export const FOLLOW_UPS_PER_TURN_MAX = 8;
/** Maximum number of waiting follow-ups of a conversation. */
export const FOLLOW_UPS_WAITING_MAX = 64;

/** The dedupe keys of all follow-ups, the newest first. In a list, adding one takes the same time however many there are. */
type DedupeKeys = Readonly<{ key: string; earlier: DedupeKeys | null }>;

/** The state of a conversation's follow-ups. */
export type FollowUpsOfConversation = Readonly<{
  dedupeKeys: DedupeKeys | null;
  /** Follow-ups without an outcome, the oldest first. */
  pending: ReadonlyMap<FollowUpId, FollowUpRequested['data']>;
  /** The follow-ups that the next turn reports. */
  gathered: FollowUpsGathered['data'] | null;
}>;

type Decide = Decision<FollowUpsOfConversation, FollowUpsEvent>;

const initial: FollowUpsOfConversation = { dedupeKeys: null, pending: new Map(), gathered: null };

export const followUps: Aggregate<FollowUpsOfConversation, FollowUpsEvent> = { initial, evolve, codec: followUpsCodec };

function evolve(state: FollowUpsOfConversation, event: FollowUpsEvent): FollowUpsOfConversation {
  switch (event.type) {
    case 'FollowUpRequested':
      return {
        ...state,
        dedupeKeys: { key: event.data.dedupeKey, earlier: state.dedupeKeys },
        pending: new Map(state.pending).set(event.data.followUpId, event.data),
      };
    case 'FollowUpsGathered':
      return { ...state, gathered: event.data };
    case 'FollowUpDelivered':
    case 'FollowUpMerged':
    case 'FollowUpSuppressed':
    case 'FollowUpSuperseded':
    case 'FollowUpFailed':
      return settled(state, event.data.followUpId);
  }
}

function settled(state: FollowUpsOfConversation, followUpId: FollowUpId): FollowUpsOfConversation {
  const pending = new Map([...state.pending].filter(([id]) => id !== followUpId));
  const isNext = state.gathered?.followUpIds.some((id) => pending.has(id)) ?? false;
  return { ...state, pending, gathered: isNext ? state.gathered : null };
}

/** Requests a follow-up. A repeated request with the same `dedupeKey` has no effect. */
export const request =
  (followUp: FollowUpRequested['data']): Decide =>
  ({ dedupeKeys, pending }) => {
    if (hasKey(dedupeKeys, followUp.dedupeKey)) return [];
    const { conversationId, followUpId } = followUp;
    const isTooMuch = pending.size >= FOLLOW_UPS_WAITING_MAX;
    const suppressed: FollowUpsEvent = {
      type: 'FollowUpSuppressed',
      data: { conversationId, followUpId, reason: 'too-many-waiting' },
    };
    return [{ type: 'FollowUpRequested', data: followUp }, ...(isTooMuch ? [suppressed] : [])];
  };

function hasKey(keys: DedupeKeys | null, wanted: string): boolean {
  for (let at = keys; at; at = at.earlier) if (at.key === wanted) return true;
  return false;
}

/** The follow-ups that one turn reports: the oldest, and the later ones of the same owner. */
export function toGather({ pending }: FollowUpsOfConversation): readonly FollowUpId[] {
  const [oldest, ...others] = pending.values();
  const together = others.filter(({ ownerId }) => ownerId === oldest?.ownerId);
  return [...(oldest ? [oldest] : []), ...together].slice(0, FOLLOW_UPS_PER_TURN_MAX).map(({ followUpId }) => followUpId);
}

/** Gathers follow-ups for one turn. Has no effect while follow-ups are gathered for another turn. */
export const gather =
  (gathered: FollowUpsGathered['data']): Decide =>
  ({ gathered: before, pending }) => {
    const followUpIds = [...new Set(gathered.followUpIds)];
    if (before !== null || followUpIds.length === 0 || !followUpIds.every((id) => pending.has(id))) return [];
    return [{ type: 'FollowUpsGathered', data: { ...gathered, followUpIds } }];
  };

/** The result of asking the turn that reports the follow-ups. */
export type Completion =
  | Readonly<{ status: 'asked' | 'gone' | 'too-many-in-a-row' }>
  | Readonly<{ status: 'refused'; error: string }>;

/** Records the outcome of the follow-ups that were gathered for a turn. */
export const complete =
  (turnId: string, completion: Completion): Decide =>
  ({ gathered, pending }) =>
    gathered?.turnId === turnId
      ? gathered.followUpIds
          .filter((followUpId) => pending.has(followUpId))
          .map((followUpId, place) =>
            settledAs({ conversationId: gathered.conversationId, followUpId }, place, turnId, completion),
          )
      : [];

function settledAs(
  about: Readonly<{ conversationId: string; followUpId: FollowUpId }>,
  place: number,
  turnId: string,
  completion: Completion,
): FollowUpsEvent {
  switch (completion.status) {
    case 'asked':
      return { type: place === 0 ? 'FollowUpDelivered' : 'FollowUpMerged', data: { ...about, turnId } };
    case 'gone':
      return { type: 'FollowUpSuperseded', data: about };
    case 'too-many-in-a-row':
      return { type: 'FollowUpSuppressed', data: { ...about, reason: 'too-many-in-a-row' } };
    case 'refused':
      return { type: 'FollowUpFailed', data: { ...about, error: completion.error } };
  }
}
