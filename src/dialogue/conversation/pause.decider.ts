import { CLOCKS_APART_MS_MAX } from '../../kernel/clocks-apart.js';
import { Rejection } from '../../kernel/rejection.js';
import { belongsTo, type Party } from './conversation-access.policy.js';
import { mayResume } from '../../resources/identity/access.policy.js';
import type {
  CalledTool,
  ConversationEvent,
  NotRun,
  PendingCall,
  ToolCallFinished,
  TurnId,
  TurnPaused,
  TurnResumed,
} from './conversation.events.js';
import { deniedRecord, inCallOrder, withToolCalls } from './tool-call.policy.js';
import { usedUntilDeletion } from './turn.decider.js';
import {
  type Conversation,
  type Decide,
  isUnfinished,
  notFound,
  turnStopped,
  takenByAnother,
  type Turn,
  turnIfOpen,
} from './turn.policy.js';

/** A caller's answer to a pending tool call. A result is JSON text. */
export type CallAnswer = Readonly<
  { callId: string } & ({ decision: 'approved' } | { decision: 'denied'; comment: string | null } | { result: string })
>;

const notPending = () => new Rejection('tool-call-not-pending', 'This request is no longer pending.');
const inProgress = () => new Rejection('resume-in-progress', 'This conversation is being resumed already.');
const notTheirs = () => new Rejection('resource-not-allowed', 'An access token decides only on tool calls of its own questions.');
const invalid = (text: string) => new Rejection('invalid-request', text);

const isPaused = (turn: Turn): boolean => turn.status === 'paused';
const waitsFor = (turn: Turn, callId: string): boolean => turn.pause?.calls.some((call) => call.callId === callId) ?? false;

/**
 * The turn with a pending call of one of these ids. @throws Rejection conversation-not-found, resume-in-progress,
 * tool-call-not-pending
 */
function turnToResume(state: Conversation, callIds: readonly string[], by: Party, now: Date): [TurnId, Turn] {
  if (!belongsTo(state, by)) throw notFound();
  const turns = [...state.turns].filter(([, turn]) => callIds.some((callId) => waitsFor(turn, callId)));
  // Only the owner decides on calls of the owner's own questions.
  if (!('userId' in by) && turns.some(([, { agentKeyId }]) => agentKeyId === null)) throw notFound();
  const [found, another] = turns.filter(([, turn]) => isPaused(turn));
  if (!found) {
    const isResuming = [...state.turns.values()].some((turn) => isUnfinished(turn) && turn.runs > 1);
    throw isResuming ? inProgress() : notPending();
  }
  // An id that is pending in two turns is ambiguous.
  if (another) throw notPending();
  const [, { pause }] = found;
  // A ticker ends the pause in time. The date itself only keeps callers from a pause that no process was there to end.
  if (now.getTime() >= Date.parse(pause!.expiresAt) + CLOCKS_APART_MS_MAX) throw notPending();
  if (!callIds.every((callId) => waitsFor(found[1], callId))) throw notPending();
  if (!mayResume(by, found[1].accessTokenId)) throw notTheirs();
  return found;
}

/** Resumes a paused turn. All calls are decided together; a call without an answer is denied. */
export const resume =
  (
    answers: readonly CallAnswer[],
    by: Party,
    now: Date,
    { checkUsage = null, ...more }: Partial<Omit<TurnResumed['data'], 'conversationId' | 'turnId'>> = {},
  ): Decide =>
  (state) => {
    const callIds = answers.map(({ callId }) => callId);
    const [turnId, turn] = turnToResume(state, callIds, by, now);
    const about = { conversationId: state.id, turnId };
    const decided = turn.pause!.calls.map((call): ConversationEvent => {
      const answer = answers.find(({ callId }) => callId === call.callId);
      return decisionOn(call, answer, about);
    });
    return [...decided, { type: 'TurnResumed', data: { ...about, checkUsage, ...more } }];
  };

type About = Readonly<{ conversationId: string; turnId: TurnId }>;

function decisionOn({ callId, pauseType }: PendingCall, answer: CallAnswer | undefined, about: About): ConversationEvent {
  if (!answer) return { type: 'ToolCallDenied', data: { ...about, callId, comment: null, notRun: 'no_response' } };
  if ('result' in answer) {
    if (pauseType === 'awaiting_approval') throw invalid(`The call ${callId} waits for a decision, not for a result.`);
    return { type: 'ToolCallAnswered', data: { ...about, callId, result: answer.result } };
  }
  if (answer.decision === 'denied') {
    return { type: 'ToolCallDenied', data: { ...about, callId, comment: answer.comment, notRun: null } };
  }
  if (pauseType === 'requires_client_execution') throw invalid(`The call ${callId} is run by the client, who sends its result.`);
  return { type: 'ToolCallApproved', data: { ...about, callId } };
}

/**
 * Pauses the turn of a producer. A stop that was accepted before takes precedence, and so does any other end of the turn. Refused
 * if another producer runs the turn. In a deleted conversation only the usage is recorded.
 */
export const pause =
  (paused: TurnPaused['data'], producer: string): Decide =>
  (state) => {
    const { turnId, usage } = paused;
    if (state.status === 'deleted') return usedUntilDeletion(state, turnId, usage, producer);
    const turn = turnIfOpen(state, turnId);
    if (turn && (isUnfinished(turn) || isPaused(turn)) && turn.producer !== producer) throw takenByAnother(turnId);
    if (turn?.status !== 'running') return [];
    return [turn.stopRequested ? turnStopped(paused) : { type: 'TurnPaused', data: paused }];
  };

/** The events that end a paused turn without resuming it: its text stays, and its pending calls are denied. */
export function unresumed(state: Conversation, turnId: TurnId, { pause: open }: Turn, notRun: NotRun): ConversationEvent[] {
  const { calls, parts, modelId, usage } = open!;
  const about = { conversationId: state.id, turnId };
  const denied = calls.map((call) => deniedRecord(call, notRun));
  const toolCalls = inCallOrder(withToolCalls(parts.toolCalls, denied), calls);
  return [
    ...calls.map(({ callId }): ConversationEvent => ({
      type: 'ToolCallDenied',
      data: { ...about, callId, comment: null, notRun },
    })),
    { type: 'TurnAnswered', data: { ...about, ...parts, toolCalls, modelId, usage } },
  ];
}

/** Ends a pause whose time is over. */
export const expire =
  (turnId: TurnId, now: Date): Decide =>
  (state) => {
    const turn = turnIfOpen(state, turnId);
    if (!turn || !isPaused(turn) || new Date(turn.pause!.expiresAt) > now) return [];
    return unresumed(state, turnId, turn, 'expired');
  };

/**
 * Records the start of a tool call with effects, which is never repeated after that. Refused if another producer has the turn.
 */
export const startCall =
  (turnId: TurnId, producer: string, call: CalledTool): Decide =>
  (state) => {
    const turn = state.turns.get(turnId);
    if (turn?.status !== 'running' || turn.producer !== producer) throw takenByAnother(turnId);
    // The caller of the stop got 202, so no further call may start. A deletion stops the turn too.
    if (turn.stopRequested) throw new Rejection('turn-stopping', `Turn ${turnId} is being stopped.`);
    return [{ type: 'ToolCallStarted', data: { conversationId: state.id, turnId, call } }];
  };

export const finishCall =
  (finished: ToolCallFinished['data']): Decide =>
  (state) =>
    turnIfOpen(state, finished.turnId)?.unfinishedCalls.some(({ callId }) => callId === finished.callId)
      ? [{ type: 'ToolCallFinished', data: finished }]
      : [];
