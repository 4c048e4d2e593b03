import type { StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { MessageFields } from './message-fields.js';

/** A message of a read or a subscription. Messages that the adapter does not use are `other`. */
export type Answer =
  | Readonly<{ kind: 'event'; event: StoredEvent; bytes: number }>
  | Readonly<{ kind: 'checkpoint'; position: bigint }>
  | Readonly<{ kind: 'stream-end'; revision: number }>
  | Readonly<{ kind: 'caught-up' | 'fell-behind' | 'other' }>;

const CAUGHT_UP: Answer = { kind: 'caught-up' };
const FELL_BEHIND: Answer = { kind: 'fell-behind' };
const OTHER: Answer = { kind: 'other' };

const TICKS_PER_MS = 10_000;

/**
 * Decodes a `ReadResp` without the generated stubs, which copy every event several times and turn every number into a string.
 * This decodes twice as many events per second.
 */
export function decodeAnswer(bytes: Buffer): Answer {
  const fields = new MessageFields(bytes);
  while (fields.next()) {
    if (fields.number === 1) return readEvent(fields.message(), bytes.length);
    if (fields.number === 3) return checkpoint(fields.message());
    if (fields.number === 6) return { kind: 'stream-end', revision: fields.integer() };
    if (fields.number === 8) return CAUGHT_UP;
    if (fields.number === 9) return FELL_BEHIND;
  }
  return OTHER;
}

/** The event. The service writes no links, so a resolved link is `other`. */
function readEvent(fields: MessageFields, bytes: number): Answer {
  while (fields.next()) if (fields.number === 1) return { kind: 'event', event: recordedEvent(fields.message()), bytes };
  return OTHER;
}

function recordedEvent(fields: MessageFields): StoredEvent {
  let [id, stream, revision, position, data, metadata] = ['', '', 0, 0n, '', ''];
  let described: Described = { type: '', created: 0 };
  while (fields.next()) {
    if (fields.number === 1) id = only(fields.message(), 2);
    else if (fields.number === 2) stream = only(fields.message(), 3);
    else if (fields.number === 3) revision = fields.integer();
    else if (fields.number === 5) position = fields.bigint();
    else if (fields.number === 6) described = describe(fields.message(), described);
    else if (fields.number === 7) metadata = fields.text();
    else if (fields.number === 8) data = fields.text();
  }
  return {
    id,
    type: described.type,
    data,
    metadata,
    stream,
    revision,
    position,
    at: new Date(Math.floor(described.created / TICKS_PER_MS)),
  };
}

type Described = Readonly<{ type: string; created: number }>;

/** An entry of the server's metadata of an event: a name and a text. */
function describe(fields: MessageFields, known: Described): Described {
  let [name, value] = ['', ''];
  while (fields.next()) {
    if (fields.number === 1) name = fields.text();
    else if (fields.number === 2) value = fields.text();
  }
  if (name === 'type') return { ...known, type: value };
  return name === 'created' ? { ...known, created: Number(value) } : known;
}

/** The text of one field of a wrapper message. */
function only(fields: MessageFields, number: number): string {
  let text = '';
  while (fields.next()) if (fields.number === number) text = fields.text();
  return text;
}

/** A subscription that has not scanned any event yet sends the largest 64-bit number, which means no position. */
const NO_POSITION = 2n ** 64n - 1n;

function checkpoint(fields: MessageFields): Answer {
  let position = 0n;
  while (fields.next()) if (fields.number === 1) position = fields.bigint();
  return position === NO_POSITION ? OTHER : { kind: 'checkpoint', position };
}

/** The size of an answer in bytes, for the limit of a page. */
export const bytesOf = (answer: Answer): number => (answer.kind === 'event' ? answer.bytes : 0);

/** The position up to which the server has scanned the log, if the answer states it. */
export function positionOf(answer: Answer): bigint | undefined {
  if (answer.kind === 'event') return answer.event.position;
  return answer.kind === 'checkpoint' ? answer.position : undefined;
}

/** The events among the answers, without the server's system events. */
export function eventsIn(answers: readonly Answer[]): StoredEvent[] {
  const events: StoredEvent[] = [];
  for (const answer of answers) if (answer.kind === 'event' && !answer.event.type.startsWith('$')) events.push(answer.event);
  return events;
}
