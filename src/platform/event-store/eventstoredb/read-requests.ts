import type { LogFilter } from '../../../kernel/event-sourcing/event-store.js';
import { Empty, ReadReq, type ReadRequest, StreamIdentifier } from './stubs.js';
import { streamPattern } from './stream-pattern.js';

type Options = InstanceType<typeof ReadReq.Options>;

const BACKWARDS = 1;

/** A subscription reports its position after each window of this many scanned events. */
const CHECKPOINT_WINDOW_EVENTS = 32;
/** A read does not report positions. With large windows the server skips filtered events three to four times as fast. */
const READ_WINDOW_EVENTS = 16_384;

/** With this compatibility level, the server ends a read of a stream with the stream's last revision. */
const TELLS_STREAM_END = 1;

/** Reads the end of a stream: its newest event, if it is kept, and its last revision. */
export function readStreamEnd(stream: string): ReadRequest {
  const request = readStream(stream, undefined, true, 1);
  request.getOptions()!.setControlOption(new ReadReq.Options.ControlOption().setCompatibility(TELLS_STREAM_END));
  return request;
}

/** Reads a stream. `from` is inclusive; without it the read starts at the start or, backwards, at the end. */
export function readStream(stream: string, from: number | undefined, backwards: boolean, count: number): ReadRequest {
  const options = readOptions(backwards, count);
  const place = streamOptions(stream);
  if (from !== undefined) place.setRevision(from.toString());
  else if (backwards) place.setEnd(new Empty());
  else place.setStart(new Empty());
  return new ReadReq().setOptions(options.setStream(place).setNoFilter(new Empty()));
}

/** Reads the log. `from` is inclusive. */
export function readLog(from: bigint, filter: LogFilter, count: number): ReadRequest {
  return new ReadReq().setOptions(
    readOptions(false, count).setAll(logOptions(from)).setFilter(filterOptions(filter, READ_WINDOW_EVENTS)),
  );
}

export function readLogEnd(): ReadRequest {
  const end = new ReadReq.Options.AllOptions().setEnd(new Empty());
  return new ReadReq().setOptions(readOptions(true, 1).setAll(end).setNoFilter(new Empty()));
}

export function subscribeToLog(after: bigint, filter: LogFilter): ReadRequest {
  return new ReadReq().setOptions(
    subscriptionOptions().setAll(logOptions(after)).setFilter(filterOptions(filter, CHECKPOINT_WINDOW_EVENTS)),
  );
}

function readOptions(backwards: boolean, count: number): Options {
  const options = commonOptions().setCount(Math.min(count, Number.MAX_SAFE_INTEGER).toString());
  if (backwards) options.setReadDirection(BACKWARDS);
  return options;
}

const subscriptionOptions = (): Options => commonOptions().setSubscription(new ReadReq.Options.SubscriptionOptions());

function commonOptions(): Options {
  return new ReadReq.Options().setResolveLinks(false).setUuidOption(new ReadReq.Options.UUIDOption().setString(new Empty()));
}

const streamOptions = (stream: string) =>
  new ReadReq.Options.StreamOptions().setStreamIdentifier(new StreamIdentifier().setStreamName(Buffer.from(stream)));

/** Commit and prepare position are equal for events of a plain append. */
function logOptions(position: bigint) {
  const options = new ReadReq.Options.AllOptions();
  if (position < 0n) return options.setStart(new Empty());
  const text = position.toString();
  return options.setPosition(new ReadReq.Options.Position().setCommitPosition(text).setPreparePosition(text));
}

function filterOptions(filter: LogFilter, windowEvents: number) {
  const expression = new ReadReq.Options.FilterOptions.Expression().setRegex(streamPattern(filter));
  return new ReadReq.Options.FilterOptions()
    .setStreamIdentifier(expression)
    .setMax(windowEvents)
    .setCheckpointintervalmultiplier(1);
}
