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
} from './conversation.events.js';
import { deniedRecord, inCallOrder, withToolCalls } from './tool-call.policy.js';
import { type Conversation, type Decide, isUnfinished, type Turn } from './turn.policy.js';

/** What somebody says of a call that waits. A result is JSON text. */
export type CallAnswer = Readonly<
  { callId: string } & ({ decision: 'approved' } | { decision: 'denied'; comment: string | null } | { result: string })
>;

const notFound = () => new Rejection('conversation-not-found', 'Conversation not found');
const notPending = () => new Rejection('tool-call-not-pending', 'This request is no longer pending.');
const inProgress = () => new Rejection('resume-in-progress', 'This conversation is being resumed already.');
const notTheirs = () => new Rejection('resource-not-allowed', 'A token decides only on calls of what it asked itself.');
const invalid = (text: string) => new Rejection('invalid-request', text);

const isPaused = (turn: Turn): boolean => turn.status === 'paused';
const waitsFor = (turn: Turn, callId: string): boolean => turn.pause?.calls.some((call) => call.callId === callId) ?? false;

/** The turn that waits for a call with one of these ids. @throws Rejection conversation-not-found, resume-in-progress, tool-call-not-pending */
function turnToResume(state: Conversation, callIds: readonly string[], by: Party, now: Date): [TurnId, Turn] {
  if (!belongsTo(state, by)) throw notFound();
  const turns = [...state.turns].filter(([, turn]) => callIds.some((callId) => waitsFor(turn, callId)));
  // What its owner asked, its owner decides.
  if (!('userId' in by) && turns.some(([, { agentKeyId }]) => agentKeyId === null)) throw notFound();
  const [found, another] = turns.filter(([, turn]) => isPaused(turn));
  if (!found) {
    if (turns.some(([, turn]) => isUnfinished(turn) && turn.runs > 1)) throw inProgress();
    throw notPending();
  }
  // An id that two turns wait for says nothing of which of them is meant.
  if (another) throw notPending();
  const [, { pause }] = found;
  if (new Date(pause!.expiresAt) <= now) throw notPending();
  if (!callIds.every((callId) => waitsFor(found[1], callId))) throw notPending();
  if (!mayResume(by, found[1].accessTokenId)) throw notTheirs();
  return found;
}

/** All that a pause waits for is decided at once; a call of which nothing is said is denied. */
export const resume =
  (answers: readonly CallAnswer[], by: Party, now: Date): Decide =>
  (state) => {
    const callIds = answers.map(({ callId }) => callId);
    const [turnId, turn] = turnToResume(state, callIds, by, now);
    const about = { conversationId: state.id, turnId };
    const decided = turn.pause!.calls.map((call): ConversationEvent => {
      const answer = answers.find(({ callId }) => callId === call.callId);
      return decisionOn(call, answer, about);
    });
    return [...decided, { type: 'TurnResumed', data: about }];
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

const turnOf = (state: Conversation, turnId: TurnId): Turn | undefined =>
  state.status === 'open' ? state.turns.get(turnId) : undefined;

const taken = (turnId: TurnId) => new Rejection('turn-taken', `Turn ${turnId} is no longer run here.`);

/**
 * The run of a producer ends and waits. A stop that was accepted before goes first, as does whatever ended the turn
 * meanwhile. Refused when another producer goes on with the turn.
 */
export const pause =
  (paused: TurnPaused['data'], producer: string): Decide =>
  (state) => {
    const { conversationId, turnId, answer, thought, sources, toolCalls, structured, usage } = paused;
    const turn = turnOf(state, turnId);
    if (turn && (isUnfinished(turn) || isPaused(turn)) && turn.producer !== producer) throw taken(turnId);
    if (turn?.status !== 'running') return [];
    if (!turn.stopRequested) return [{ type: 'TurnPaused', data: paused }];
    const parts = { answer, thought, sources, toolCalls, structured };
    return [{ type: 'TurnStopped', data: { conversationId, turnId, ...parts, ...(usage && { usage }) } }];
  };

/** The end of a turn that was not resumed: its text stays, and its pending calls count as denied. */
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

/** No decision came in time. */
export const expire =
  (turnId: TurnId, now: Date): Decide =>
  (state) => {
    const turn = turnOf(state, turnId);
    if (!turn || !isPaused(turn) || new Date(turn.pause!.expiresAt) > now) return [];
    return unresumed(state, turnId, turn, 'expired');
  };

/** A call with effects begins: from here on it is not repeated. Refused when the turn is no longer this producer's. */
export const startCall =
  (turnId: TurnId, producer: string, call: CalledTool): Decide =>
  (state) => {
    const turn = state.turns.get(turnId);
    if (turn?.status !== 'running' || turn.producer !== producer) throw taken(turnId);
    // Its 202 was a promise; a deletion stops what runs.
    if (turn.stopRequested) throw new Rejection('turn-stopping', `Turn ${turnId} is being stopped.`);
    return [{ type: 'ToolCallStarted', data: { conversationId: state.id, turnId, call } }];
  };

export const finishCall =
  (finished: ToolCallFinished['data']): Decide =>
  (state) =>
    turnOf(state, finished.turnId)?.unfinishedCalls.some(({ callId }) => callId === finished.callId)
      ? [{ type: 'ToolCallFinished', data: finished }]
      : [];

/** A run that takes its producers with it is not requeued for ever. */
export const REQUEUES_MAX = 5;

/** Whether a producer that is gone may be followed by another one. */
export const mayBeRequeued = (turn: Turn): boolean =>
  turn.status === 'running' && turn.requeues < REQUEUES_MAX && !turn.stopRequested;

/** A run whose producer is gone is open to others again. */
export const requeue =
  (turnId: TurnId, producer: string): Decide =>
  (state) => {
    const turn = turnOf(state, turnId);
    if (turn?.producer !== producer || !mayBeRequeued(turn)) return [];
    return [{ type: 'TurnRequeued', data: { conversationId: state.id, turnId, producer } }];
  };
