import { describe, expect, it } from '@jest/globals';
import { turnPaused, turnResumed, turnUnresumed, waitingCall } from '../../../test/support/pauses.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import { Seeded } from '../../../test/support/seeded.js';
import type { ConversationEvent, PauseType } from './conversation.events.js';
import { conversation } from './conversation.decider.js';
import { markOf } from './conversation-mark.policy.js';

const about = { conversationId: 'c1' };
/** An event of a turn with only the data that the mark reads. */
const ofTurn = (type: string, turnId: string, index = 0) =>
  ({ type, data: { ...about, turnId, index } }) as unknown as ConversationEvent;
const asked = (turnId: string, index: number): ConversationEvent => ({
  type: 'TurnAsked',
  data: { ...about, turnId, index, question: 'Why?', requestId: 'r', settings: turnSettings() },
});
const answered = (turnId: string) => ofTurn('TurnAnswered', turnId);
const failed = (turnId: string) => ofTurn('TurnFailed', turnId);
const stopped = (turnId: string) => ofTurn('TurnStopped', turnId);
const opened: ConversationEvent = { type: 'ConversationOpened', data: about };
const deleted: ConversationEvent = { type: 'ConversationDeleted', data: about };
const turn = (turnId: string) => ({ ...about, turnId });
const paused = (turnId: string, ...pauseTypes: PauseType[]) =>
  turnPaused(
    turn(turnId),
    pauseTypes.map((pauseType, at) => waitingCall(`k${at}`, pauseType)),
  );
const [APPROVAL, CLIENT] = ['awaiting_approval', 'requires_client_execution'] as const;
const denied = (turnId: string): ConversationEvent[] => [
  { type: 'ToolCallDenied', data: { ...turn(turnId), callId: 'k0', comment: 'No.', notRun: null } },
  { type: 'TurnResumed', data: { ...turn(turnId), checkUsage: null } },
];
const work = (kind: 'job' | 'monitor', status: 'active' | 'over' | 'failed', id = kind as string): ConversationEvent => ({
  type: 'BackgroundWorkNoted',
  data: { ...about, work: { kind, id }, status, asOf: 0 },
});
const superseded = (fromIndex: number): ConversationEvent => ({
  type: 'TurnsSuperseded',
  data: { ...about, fromIndex },
});

const started = { ownerId: 'alice', agentId: null, agentKeyId: null, name: 'Why?', visibility: 'listed' } as const;
const begun = conversation.evolve(conversation.initial, {
  type: 'ConversationStarted',
  data: { ...about, ...started, sharedUsage: false, history: [] },
});
const markAfter = (...events: ConversationEvent[]) => markOf(events.reduce(conversation.evolve, begun));

describe('the mark of a conversation', () => {
  it.each([
    ['nothing before a question', [], null],
    ['the spinner from the question on', [asked('t1', 0)], 'running'],
    ['purple once it is answered', [asked('t1', 0), answered('t1')], 'unread'],
    ['red once it failed', [asked('t1', 0), failed('t1')], 'failed'],
    ['nothing for a turn that the user stopped', [asked('t1', 0), stopped('t1')], null],
    ['nothing once it was opened', [asked('t1', 0), answered('t1'), opened], null],
    ['nothing once a failure was seen', [asked('t1', 0), failed('t1'), opened], null],
    ['the spinner although there is something unread', [asked('t1', 0), answered('t1'), asked('t2', 1)], 'running'],
    ['the spinner when another question follows a failure', [asked('t1', 0), failed('t1'), asked('t2', 1)], 'running'],
    ['purple for an answer before a stop', [asked('t1', 0), answered('t1'), asked('t2', 1), stopped('t2')], 'unread'],
    ['red although an earlier question still runs', [asked('t1', 0), asked('t2', 1), failed('t2')], 'failed'],
    ['the spinner while an earlier question still runs', [asked('t1', 0), asked('t2', 1), answered('t2')], 'running'],
    [
      'the mark of the question that replaced an earlier one',
      [asked('t1', 0), failed('t1'), superseded(0), asked('t2', 0)],
      'running',
    ],
    ['nothing for a turn that ends after it was superseded', [asked('t1', 0), superseded(0), answered('t1')], null],
    ['amber while a call waits for approval', [asked('t1', 0), paused('t1', APPROVAL)], 'approval'],
    ['amber also when the client runs another call', [asked('t1', 0), paused('t1', CLIENT, APPROVAL)], 'approval'],
    ['nothing while only the client has something to run', [asked('t1', 0), paused('t1', CLIENT)], null],
    ['amber also after the conversation was opened', [asked('t1', 0), paused('t1', APPROVAL), opened], 'approval'],
    [
      'the spinner once all calls are approved',
      [asked('t1', 0), paused('t1', APPROVAL), ...turnResumed(turn('t1'), 'k0')],
      'running',
    ],
    [
      'the spinner once the call is denied, because the answer continues',
      [asked('t1', 0), paused('t1', APPROVAL), ...denied('t1')],
      'running',
    ],
    [
      'the spinner while another producer continues the turn',
      [asked('t1', 0), paused('t1', APPROVAL), ...denied('t1'), { type: 'TurnRequeued', data: { ...turn('t1'), producer: 'p' } }],
      'running',
    ],
    ['amber when it pauses again', [asked('t1', 0), paused('t1', CLIENT), ...denied('t1'), paused('t1', APPROVAL)], 'approval'],
    [
      'purple once an approval has expired',
      [asked('t1', 0), paused('t1', APPROVAL), ...turnUnresumed(turn('t1'), 'expired', 'k0')],
      'unread',
    ],
    [
      'purple once a call of the client has expired',
      [asked('t1', 0), paused('t1', CLIENT), ...turnUnresumed(turn('t1'), 'expired', 'k0')],
      'unread',
    ],
    [
      'the spinner of a question that was asked instead of an approval',
      [asked('t1', 0), paused('t1', APPROVAL), ...turnUnresumed(turn('t1'), 'moved_on', 'k0'), asked('t2', 1)],
      'running',
    ],
    [
      'purple for the text of a turn that another question ended',
      [asked('t1', 0), paused('t1', APPROVAL), ...turnUnresumed(turn('t1'), 'moved_on', 'k0'), asked('t2', 1), stopped('t2')],
      'unread',
    ],
    ['red above amber', [asked('t1', 0), paused('t1', APPROVAL), asked('t2', 1), failed('t2')], 'failed'],
    ['amber above a spinner', [asked('t1', 0), paused('t1', APPROVAL), asked('t2', 1)], 'approval'],
    ['amber above purple', [asked('t1', 0), answered('t1'), asked('t2', 1), paused('t2', APPROVAL)], 'approval'],
    [
      'purple while a later turn waits only for the client',
      [asked('t1', 0), answered('t1'), asked('t2', 1), paused('t2', CLIENT)],
      'unread',
    ],
    ['purple for an appended turn', [asked('t1', 0), answered('t1'), opened, ofTurn('TurnAppended', 't2', 1)], 'unread'],
    ['the spinner of a turn beside an appended one', [asked('t1', 0), ofTurn('TurnAppended', 't2', 1)], 'running'],
    [
      'nothing for a withdrawn turn',
      [asked('t1', 0), answered('t1'), opened, asked('t2', 1), ofTurn('TurnWithdrawn', 't2'), answered('t2')],
      null,
    ],
    [
      'what it was before a turn was withdrawn',
      [asked('t1', 0), asked('t2', 1), failed('t1'), ofTurn('TurnWithdrawn', 't2'), answered('t2')],
      'failed',
    ],
    ['the spinner while a job works', [asked('t1', 0), answered('t1'), work('job', 'active')], 'running'],
    ['what it was once the job is done', [asked('t1', 0), answered('t1'), work('job', 'active'), work('job', 'over')], 'unread'],
    ['red once a job failed', [asked('t1', 0), answered('t1'), work('job', 'active'), work('job', 'failed')], 'failed'],
    ['red for a failed job also when another question follows', [work('job', 'failed'), asked('t1', 0)], 'failed'],
    ['red for a failed job above amber', [asked('t1', 0), paused('t1', APPROVAL), work('job', 'failed')], 'failed'],
    ['nothing once the failure of a job was seen', [work('job', 'failed'), opened], null],
    ['amber above a job that works', [work('job', 'active'), asked('t1', 0), paused('t1', APPROVAL)], 'approval'],
    ['a ring while something is watched', [asked('t1', 0), answered('t1'), opened, work('monitor', 'active')], 'monitor'],
    ['purple above a ring', [work('monitor', 'active'), asked('t1', 0), answered('t1')], 'unread'],
    ['the ring also after an opening', [work('monitor', 'active'), work('job', 'failed'), opened], 'monitor'],
    ['nothing once the monitor is paused or over', [work('monitor', 'active'), work('monitor', 'over')], null],
    [
      'the ring of a second monitor when the first is over',
      [work('monitor', 'active', 'a'), work('monitor', 'active', 'b'), work('monitor', 'over', 'a')],
      'monitor',
    ],
    ['nothing for work of a deleted conversation', [work('monitor', 'active'), work('job', 'failed'), deleted], null],
    ['nothing for a conversation that is deleted during a pause', [asked('t1', 0), paused('t1', APPROVAL), deleted], null],
    ['nothing for a deleted conversation', [asked('t1', 0), deleted, answered('t1')], null],
  ] as [string, ConversationEvent[], string | null][])('is %s', (_, events, mark) => expect(markAfter(...events)).toBe(mark));

  it('is never red or purple right after it was opened', () => {
    const random = new Seeded(3);
    for (let run = 0; run < 200; run++) {
      const events = Array.from({ length: random.between(1, 12) }, (_unused, at) => {
        const turn = `t${random.between(0, at)}`;
        const states = [answered(turn), failed(turn), stopped(turn), superseded(0), paused(turn, APPROVAL), paused(turn, CLIENT)];
        return [asked(`t${at}`, at), ...states][random.between(0, states.length)]!;
      });
      expect([null, 'running', 'approval']).toContain(markAfter(...events, opened));
    }
  });
});
