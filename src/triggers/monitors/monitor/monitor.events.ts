import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type MonitorId = string;

/** What is looked at. `name` is what people call it. */
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

/** What about it counts. A path is dotted, with `[index]` for lists; null: the whole. */
export type MonitorCheck =
  | Readonly<{ type: 'changed' }>
  | Readonly<{ type: 'new_items'; itemsPath: string | null; idField: string | null }>
  | Readonly<{ type: 'regex'; pattern: string; when: 'match' | 'no_match' }>
  | Readonly<{ type: 'threshold'; valuePath: string | null; op: ThresholdOperator; value: number }>
  | Readonly<{ type: 'status'; valuePath: string | null; terminal: readonly string[] }>;

/** What is waited for, and for how long. */
export type MonitorDefinition = Readonly<{
  description: string;
  source: MonitorSource;
  check: MonitorCheck;
  /** What must be so besides, in words: a model judges. */
  condition: string | null;
  /** What is to be done then, in words. */
  onMatch: string | null;
  intervalSeconds: number;
  followUpsMax: number;
  expiresAt: string;
}>;

/** What is kept of the last check: enough to recognise what is new, and never the content itself. */
export type Seen = Readonly<{
  hash: string;
  /** Ids of items, hashed, the newest first. */
  items: readonly string[];
  /** Whether what the check looks for was so. */
  holds: boolean;
  /** What was found, for people: a number, a state, the first words. */
  gist: string;
}>;

type About = { monitorId: MonitorId; ownerId: string; conversationId: string };

export type MonitorCreated = Event<
  'MonitorCreated',
  About & { agentId: string | null; definition: MonitorDefinition; seen: Seen; createdAt: string; nextCheckAt: string }
>;

/** A process checks the source, and no other one until `leaseUntil`. Checks are counted from 1, including unfinished ones. */
export type MonitorCheckStarted = Event<
  'MonitorCheckStarted',
  { monitorId: MonitorId; check: number; startedAt: string; leaseUntil: string }
>;

/**
 * `changed`: something is new, but not what is waited for. `unjudged`: no model could judge whether it is what is waited for.
 * `unreachable`: the source did not answer this time. `failed`: the content does not fit the check, or the source refused.
 */
export type CheckOutcome = 'unchanged' | 'changed' | 'matched' | 'unjudged' | 'unreachable' | 'failed';

export type MonitorChecked = Event<
  'MonitorChecked',
  {
    monitorId: MonitorId;
    check: number;
    outcome: CheckOutcome;
    /** Left out where it is as it was. */
    seen?: Seen;
    error: string | null;
    /** What the model that judged has used. */
    usage: Readonly<{ promptTokens: number; completionTokens: number }> | null;
    /** The model that judges could not, this many times in a row. */
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

/** `reason`: it paused itself; null: its owner did. Pauses are counted from 1. */
export type MonitorPaused = Event<'MonitorPaused', About & { pause: number; reason: string | null; pausedAt: string }>;
export type MonitorResumed = Event<'MonitorResumed', About & { resumedAt: string; nextCheckAt: string }>;
/** `isNews`: its conversation gets a follow-up, because it had none of this monitor before. */
export type MonitorCompleted = Event<
  'MonitorCompleted',
  About & { reason: 'follow_ups_used' | 'expired'; isNews: boolean; completedAt: string }
>;
/** `by` its owner, or because its conversation is gone. */
export type MonitorCancelled = Event<'MonitorCancelled', About & { by: 'owner' | 'conversation'; cancelledAt: string }>;

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

/** A call makes one monitor, however often it is repeated. */
export const monitorIdOf = (turnId: string, callId: string): MonitorId => deterministicId('monitor', turnId, callId);
