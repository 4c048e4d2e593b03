import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type MonitorId = string;

/** The source that is checked. `name` is shown to people. */
export type MonitorSource =
  | Readonly<{ type: 'webpage'; url: string }>
  | Readonly<{
      type: 'tool';
      toolId: string;
      name: string;
      actionName: string;
      arguments: Readonly<Record<string, unknown>>;
    }>
  | Readonly<{ type: 'ingest'; sourceId: string; name: string }>;

export const THRESHOLD_OPERATORS = ['<', '<=', '>', '>=', '==', '!='] as const;
export type ThresholdOperator = (typeof THRESHOLD_OPERATORS)[number];

/** What the check looks for. Paths are dotted, with `[index]` for lists; null means the whole content. */
export type MonitorCheck =
  | Readonly<{ type: 'changed' }>
  | Readonly<{ type: 'new_items'; itemsPath: string | null; idField: string | null }>
  | Readonly<{ type: 'regex'; pattern: string; when: 'match' | 'no_match' }>
  | Readonly<{ type: 'threshold'; valuePath: string | null; op: ThresholdOperator; value: number }>
  | Readonly<{ type: 'status'; valuePath: string | null; terminal: readonly string[] }>;

/** What the monitor waits for, and until when. */
export type MonitorDefinition = Readonly<{
  description: string;
  source: MonitorSource;
  check: MonitorCheck;
  /** An additional condition in words, which a model judges. */
  condition: string | null;
  /** Instructions in words for the follow-up. */
  onMatch: string | null;
  intervalSeconds: number;
  followUpsMax: number;
  expiresAt: string;
}>;

/** The stored result of the last check: enough to recognise what is new, but never the content itself. */
export type Seen = Readonly<{
  hash: string;
  /** Hashed ids of items: those of the latest check first, then earlier ones. */
  items: readonly string[];
  /** Whether what the check looks for was the case. */
  holds: boolean;
  /** A summary for people: a number, a state or the first words. */
  gist: string;
}>;

type About = { monitorId: MonitorId; ownerId: string; conversationId: string };

export type MonitorCreated = Event<
  'MonitorCreated',
  About & { agentId: string | null; definition: MonitorDefinition; seen: Seen; createdAt: string; nextCheckAt: string }
>;

/** A process has claimed the check until `leaseUntil`. Checks are numbered from 1, including unfinished ones. */
export type MonitorCheckStarted = Event<
  'MonitorCheckStarted',
  { monitorId: MonitorId; check: number; startedAt: string; leaseUntil: string }
>;

/**
 * `changed`: the content is new, but not what the monitor waits for. `unjudged`: no model could judge the condition.
 * `unreachable`: the source did not answer this time. `failed`: the content does not fit the check, or the source refused.
 */
export type CheckOutcome = 'unchanged' | 'changed' | 'matched' | 'unjudged' | 'unreachable' | 'failed';

export type MonitorChecked = Event<
  'MonitorChecked',
  {
    monitorId: MonitorId;
    check: number;
    outcome: CheckOutcome;
    /** Omitted if it has not changed. */
    seen?: Seen;
    error: string | null;
    /** The tokens that the judge used. */
    usage: Readonly<{ promptTokens: number; completionTokens: number }> | null;
    /** How many times in a row the judge has failed. */
    judgeFailures: number;
    checkedAt: string;
    nextCheckAt: string;
  }
>;

/** The monitor requests a follow-up of its conversation: the `followUp`-th, counted from 1. */
export type MonitorFollowUpRequested = Event<
  'MonitorFollowUpRequested',
  About & { followUp: number; text: string; requestedAt: string }
>;

/** `reason` says why the monitor paused itself; null if its owner paused it. Pauses are numbered from 1. */
export type MonitorPaused = Event<'MonitorPaused', About & { pause: number; reason: string | null; pausedAt: string }>;
export type MonitorResumed = Event<'MonitorResumed', About & { resumedAt: string; nextCheckAt: string }>;
/** `isNews`: the conversation gets a follow-up about the end, because it got none from this monitor before. */
export type MonitorCompleted = Event<
  'MonitorCompleted',
  About & { reason: 'follow_ups_used' | 'expired'; isNews: boolean; completedAt: string }
>;
/** What ends its monitors when it is deleted. */
export type MonitorParent = 'conversation' | 'agent';
/** `by`: the owner cancelled it, or its conversation or agent was deleted. */
export type MonitorCancelled = Event<'MonitorCancelled', About & { by: 'owner' | MonitorParent; cancelledAt: string }>;

export type MonitorEvent =
  | MonitorCreated
  | MonitorCheckStarted
  | MonitorChecked
  | MonitorFollowUpRequested
  | MonitorPaused
  | MonitorResumed
  | MonitorCompleted
  | MonitorCancelled;

export const monitorStream = (monitorId: MonitorId): string => `monitor-${monitorId}`;

/** The id is derived from the tool call, so a repeated call creates one monitor. */
export const monitorIdOf = (turnId: string, callId: string): MonitorId => deterministicId('monitor', turnId, callId);
