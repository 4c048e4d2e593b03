import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { PAUSE_EXPIRES_AT, turnPaused, turnResumed, turnUnresumed, waitingCall } from '../../../test/support/pauses.js';
import { settings } from '../../../test/support/turns.js';
import { LossyStoreForTests, react, reactionOver, record, notificationsOf } from '../../../test/support/user-reactions.js';
import { type ConversationEvent, conversationStream } from '../../dialogue/conversation/conversation.events.js';

const stream = conversationStream('c1');
const scope = { kind: 'conversation', id: 'c1' };
const turn = (turnId: string) => ({ conversationId: 'c1', turnId });
const started = (visibility: 'listed' | 'hidden' = 'listed'): ConversationEvent => ({
  type: 'ConversationStarted',
  data: {
    conversationId: 'c1',
    ownerId: 'ann',
    agentId: null,
    name: 'Send it.',
    visibility,
    sharedUsage: false,
    history: [],
  },
});
const begun = (turnId: string, index = 0): ConversationEvent[] => [
  { type: 'TurnAsked', data: { ...turn(turnId), index, question: 'Send it.', requestId: 'r', settings } },
  { type: 'TurnStarted', data: { ...turn(turnId), producer: 'p' } },
];
const paused = (turnId: string) =>
  turnPaused(turn(turnId), [waitingCall('k1'), waitingCall('k2', 'requires_client_execution'), waitingCall('k3')]);
const deleted: ConversationEvent = { type: 'ConversationDeleted', data: { conversationId: 'c1' } };

const required = (message_id: string) => ({
  type: 'tool.approval.required',
  scope,
  payload: {
    conversation_id: 'c1',
    message_id,
    pending_tool_calls: ['k1', 'k3'].map((call_id) => ({ call_id, tool_name: 'api_tool', action_name: 'send', name: 'send' })),
    expires_at: PAUSE_EXPIRES_AT,
  },
});
const cleared = (message_id: string, reason: string) => ({
  type: 'tool.approval.cleared',
  scope,
  payload: { conversation_id: 'c1', message_id, reason },
});
const marked = (mark: string | null) => ({ type: 'conversation.mark', scope, payload: { conversation_id: 'c1', mark } });

const said = async (store: InMemoryEventStore) =>
  (await notificationsOf(store, 'ann')).map(({ type, scope, payload }) => ({ type, scope, payload }));

async function toldOf(...events: ConversationEvent[]) {
  const store = new InMemoryEventStore();
  await record(store, stream, ...events);
  await react(reactionOver(store), store, stream);
  return said(store);
}
const approvalsOf = async (...events: ConversationEvent[]) =>
  (await toldOf(...events)).filter(({ type }) => type !== 'conversation.mark');

const unresumed = (turnId: string, how: 'expired' | 'moved_on') => turnUnresumed(turn(turnId), how, 'k1', 'k2', 'k3');

describe('an approval', () => {
  it('is requested when a turn waits for it, and is cleared when it is decided', async () =>
    expect(await toldOf(started(), ...begun('t1'), paused('t1'), ...turnResumed(turn('t1'), 'k1', 'k2', 'k3'))).toEqual([
      marked('running'),
      marked('approval'),
      required('t1'),
      marked('running'),
      cleared('t1', 'decided'),
    ]));

  it('is also cleared when it is denied or not answered', async () => {
    for (const notRun of [null, 'no_response'] as const) {
      const denied = ['k1', 'k2', 'k3'].map((callId): ConversationEvent => ({
        type: 'ToolCallDenied',
        data: { ...turn('t1'), callId, comment: null, notRun },
      }));
      const resumed: ConversationEvent = { type: 'TurnResumed', data: { ...turn('t1'), checkUsage: null } };
      expect(await approvalsOf(started(), ...begun('t1'), paused('t1'), ...denied, resumed)).toEqual([
        required('t1'),
        cleared('t1', 'decided'),
      ]);
    }
  });

  it.each(['expired', 'moved_on'] as const)('that was not given is cleared once for any number of calls: %s', async (how) =>
    expect(await approvalsOf(started(), ...begun('t1'), paused('t1'), ...unresumed('t1', how))).toEqual([
      required('t1'),
      cleared('t1', how),
    ]),
  );

  it('is requested again when the turn waits again', async () =>
    expect(
      await approvalsOf(
        ...[started(), ...begun('t1'), paused('t1'), ...turnResumed(turn('t1'), 'k1', 'k2', 'k3')],
        ...[paused('t1'), ...unresumed('t1', 'expired')],
      ),
    ).toEqual([required('t1'), cleared('t1', 'decided'), required('t1'), cleared('t1', 'expired')]));

  it('is cleared for each waiting turn when the conversation is deleted', async () =>
    expect(await approvalsOf(started(), ...begun('t1'), ...begun('t2', 1), paused('t1'), paused('t2'), deleted)).toEqual([
      required('t1'),
      required('t2'),
      cleared('t1', 'moved_on'),
      cleared('t2', 'moved_on'),
    ]));

  it('that is cleared is not cleared again when the conversation is deleted', async () =>
    expect(await approvalsOf(started(), ...begun('t1'), paused('t1'), ...unresumed('t1', 'expired'), deleted)).toHaveLength(2));

  it('is not requested if only the client’s own code has to run', async () => {
    const client = turnPaused(turn('t1'), [waitingCall('k1', 'requires_client_execution')]);
    for (const end of [turnResumed(turn('t1')), turnUnresumed(turn('t1'), 'expired', 'k1'), [deleted]]) {
      expect(await approvalsOf(started(), ...begun('t1'), client, ...end)).toEqual([]);
    }
  });

  it('is requested also if the conversation is not listed', async () =>
    expect(await toldOf(started('hidden'), ...begun('t1'), paused('t1'), ...turnResumed(turn('t1'), 'k1', 'k2', 'k3'))).toEqual([
      required('t1'),
      cleared('t1', 'decided'),
    ]));

  it('is reported without the arguments of the calls', async () =>
    expect(JSON.stringify(await toldOf(started(), ...begun('t1'), paused('t1')))).not.toContain('bob'));
});

describe('each notification of approvals and marks', () => {
  const whole = [
    ...[started(), ...begun('t1'), paused('t1'), ...turnResumed(turn('t1'), 'k1', 'k2', 'k3')],
    ...[paused('t1'), ...unresumed('t1', 'moved_on'), ...begun('t2', 1), paused('t2'), deleted],
  ];
  const all = [
    ...[marked('running'), marked('approval'), required('t1'), marked('running'), cleared('t1', 'decided')],
    ...[marked('approval'), required('t1'), cleared('t1', 'moved_on'), marked('unread'), marked('running')],
    ...[marked('approval'), required('t2'), marked(null), cleared('t2', 'moved_on')],
  ];

  it('is sent once, for any place of a crash and any number of repeated events', async () => {
    for (let diesAfter = 1; diesAfter <= whole.length; diesAfter++) {
      for (let again = 0; again <= diesAfter; again++) {
        const store = new InMemoryEventStore();
        await record(store, stream, ...whole.slice(0, diesAfter));
        await react(reactionOver(store), store, stream);
        if (diesAfter < whole.length) await record(store, stream, ...whole.slice(diesAfter));
        await react(reactionOver(store), store, stream, again);
        expect({ diesAfter, again, told: await said(store) }).toEqual({ diesAfter, again, told: all });
      }
    }
  });

  it.each(['before', 'after'] as const)('is sent once if answers of the log are lost %s the write', async (when) => {
    const store = new LossyStoreForTests(when);
    await record(store, stream, ...whole);
    await react(reactionOver(store), store, stream);
    expect(await said(store)).toEqual(all);
  });

  it('is sent once if the process crashes between two notifications of one event', async () => {
    for (let told = 1; told <= all.length; told++) {
      const store = new DyingStore(told);
      await record(store, stream, ...whole);
      await expect(react(reactionOver(store), store, stream)).rejects.toThrow('dead');
      expect(await said(store)).toEqual(all.slice(0, told));
      store.livesAgain();
      await react(reactionOver(store), store, stream);
      expect({ told, all: await said(store) }).toEqual({ told, all });
    }
  });
});

/** A store with which the process crashes after a number of notifications. */
class DyingStore extends InMemoryEventStore {
  constructor(private left: number) {
    super();
  }

  livesAgain(): void {
    this.left = Infinity;
  }

  override async append(...given: Parameters<InMemoryEventStore['append']>) {
    const written = await super.append(...given);
    if (given[0].startsWith('user-') && --this.left === 0) throw new Error('dead');
    return written;
  }
}
