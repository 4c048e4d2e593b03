/** An event of a trace. */
export type TracedEvent = Readonly<{
  position: bigint;
  id: string;
  stream: string;
  revision: number;
  type: string;
  at: Date;
  actor: string | null;
  causationId: string | null;
  /** Read only of `SUMMARIES`. */
  data: string;
}>;

/** The frames of an answer, as their seal summarizes them. They are the last effects in the chain and too many to list. */
type Journal = Readonly<{ stream: string; frames: number; lastId: number; sha256: string }>;

export type TraceNode = Readonly<{ event: TracedEvent; journal: Journal | undefined; caused: readonly TraceNode[] }>;

/**
 * The maximum depth of the tree, for readers and for `JSON.stringify`, which is recursive. Deeper events become siblings of their
 * cause.
 */
export const TRACE_DEPTH_MAX = 200;

/**
 * The tree of events, each below its cause, in the order of the log. The roots are the events that the request caused directly.
 */
export function traceOf(events: readonly TracedEvent[]): readonly TraceNode[] {
  const places = new Map<string, { depth: number; above: string | undefined }>();
  const effects = new Map<string | undefined, TracedEvent[]>();
  for (const event of events) {
    // A cause precedes its effect in the log. Any other causation id is ignored.
    const cause = places.get(event.causationId ?? '');
    const depth = cause ? Math.min(cause.depth + 1, TRACE_DEPTH_MAX) : 0;
    const above = cause && (cause.depth === TRACE_DEPTH_MAX ? cause.above : event.causationId!);
    places.set(event.id, { depth, above });
    const siblings = effects.get(above);
    if (siblings) siblings.push(event);
    else effects.set(above, [event]);
  }
  return nodesFrom(effects);
}

/** Makes nodes from the newest to the oldest event, so that a node's effects exist already and no recursion is needed. */
function nodesFrom(effects: ReadonlyMap<string | undefined, readonly TracedEvent[]>): readonly TraceNode[] {
  const made = new Map<string, TraceNode>();
  const all = [...effects.values()].flat().sort((one, other) => (one.position < other.position ? 1 : -1));
  const nodesOf = (id: string | undefined) => (effects.get(id) ?? []).map((event) => made.get(event.id)!);
  for (const event of all) made.set(event.id, { event, journal: journalOf(event), caused: nodesOf(event.id) });
  return nodesOf(undefined);
}

/** Events that summarize the frames of an answer that was generated in the conversation or added to it. */
export const SUMMARIES: readonly string[] = ['TurnSealed', 'TurnAppended'];

/** Undefined also for a summary that somebody has changed, so that the trace still shows the other events. */
function journalOf({ type, data }: TracedEvent): Journal | undefined {
  if (!SUMMARIES.includes(type)) return undefined;
  const { turnId, frames, lastId, sha256 } = fieldsIn(data);
  const isWhole =
    typeof turnId === 'string' && typeof frames === 'number' && typeof lastId === 'number' && typeof sha256 === 'string';
  return isWhole ? { stream: `message-${turnId}`, frames, lastId, sha256 } : undefined;
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/**
 * Whether events of a chain were purged: an event's cause is missing. Events that the request caused directly have the request's
 * id as cause.
 */
export function isCutOff(events: readonly Pick<TracedEvent, 'id' | 'causationId'>[], correlationId: string): boolean {
  const kept = new Set<string | null>([correlationId, null, ...events.map(({ id }) => id)]);
  return events.some(({ causationId }) => !kept.has(causationId));
}

/** Whether a user may see a chain: the user is responsible for all actors in it except the system. */
export function isOwnTrace(events: readonly Pick<TracedEvent, 'actor'>[], actors: readonly string[]): boolean {
  const people = events.filter((event) => !event.actor?.startsWith('system:'));
  return people.length > 0 && people.every(({ actor }) => actor !== null && actors.includes(actor));
}
