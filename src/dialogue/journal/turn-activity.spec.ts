import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { turnPaused, turnResumed, turnUnresumed, waitingCall } from '../../../test/support/pauses.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import { record } from '../../../test/support/user-reactions.js';
import { type ConversationEvent, conversationStream } from '../conversation/conversation.events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { type Following, TurnActivity } from './turn-activity.js';
import { systemTiming } from '../../platform/system-timing.js';

const turn = { conversationId: 'c1', turnId: 't1' };
const begun: ConversationEvent[] = [
  {
    type: 'ConversationStarted',
    data: {
      conversationId: 'c1',
      ownerId: 'ann',
      agentId: null,
      name: 'Why?',
      visibility: 'listed',
      sharedUsage: false,
      history: [],
    },
  },
  { type: 'TurnAsked', data: { ...turn, index: 0, question: 'Why?', requestId: 'r', settings: turnSettings() } },
];
const paused = turnPaused(turn, [waitingCall('k1')]);
const pausedAgain: ConversationEvent = { ...paused, data: { ...paused.data, lastId: paused.data.lastId + 7 } };
const END_OF_PAUSE = paused.data.lastId;
const resumed = turnResumed(turn, 'k1');
const unresumed = turnUnresumed(turn, 'expired', 'k1');
const answered = unresumed.slice(-1);
const sealed: ConversationEvent = { type: 'TurnSealed', data: { ...turn, lastId: END_OF_PAUSE, frames: 7, sha256: 'f' } };
const deleted: ConversationEvent = { type: 'ConversationDeleted', data: { conversationId: 'c1' } };

async function activityAfter(...events: ConversationEvent[]): Promise<TurnActivity> {
  const store = new InMemoryEventStore();
  await record(store, conversationStream('c1'), ...begun, ...events);
  return new TurnActivity(new Streams(store, systemTiming));
}

describe('after a terminal frame', () => {
  it.each<[string, ConversationEvent[], number, Following, boolean]>([
    ['of an ended turn, nothing follows', answered, 5, 'nothing', true],
    ['of a paused turn, nothing follows before a decision', [paused], END_OF_PAUSE, 'nothing', false],
    ['of a pause, the resumed run follows', [paused, ...resumed], END_OF_PAUSE, 'more', false],
    [
      'of a pause, the end of the resumed run follows also after its outcome was recorded',
      [paused, ...resumed, ...answered],
      END_OF_PAUSE,
      'more',
      false,
    ],
    [
      'of a pause, the resumed run is written in full once the turn is sealed',
      [paused, ...resumed, ...answered, sealed],
      END_OF_PAUSE,
      'what-is-written',
      false,
    ],
    ['of an earlier pause, the next pause follows', [paused, ...resumed, pausedAgain], END_OF_PAUSE, 'more', false],
    ['of an expired pause, the end follows', [paused, ...unresumed], END_OF_PAUSE, 'more', false],
    ['of a resumed run, nothing follows', [paused, ...resumed, ...answered], END_OF_PAUSE + 9, 'nothing', true],
    [
      'of a pause, only written frames follow when the conversation is deleted',
      [paused, deleted],
      END_OF_PAUSE,
      'what-is-written',
      false,
    ],
    [
      'of a pause, only written frames follow when a deleted conversation is sealed',
      [paused, deleted, sealed],
      END_OF_PAUSE,
      'what-is-written',
      false,
    ],
  ])('%s', async (_, events, terminalId, follows, endsWith) => {
    const activity = await activityAfter(...events);
    expect([await activity.follows('c1', 't1', terminalId), await activity.endsWith('c1', 't1', terminalId)]).toEqual([
      follows,
      endsWith,
    ]);
  });
});
