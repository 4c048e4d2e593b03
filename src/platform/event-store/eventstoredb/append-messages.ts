import {
  AppendTooLarge,
  appendBytes,
  type ExpectedRevision,
  type NewEvent,
  StoreUnavailable,
  StreamGone,
  WrongRevision,
} from '../../../kernel/event-sourcing/event-store.js';
import { StoreRefused } from './errors.js';
import { MESSAGE_EVENTS_MAX } from './limits.js';
import {
  BatchAppendReq,
  type BatchRequest,
  type BatchResponse,
  Empty,
  StreamIdentifier,
  UUID,
  WrongExpectedVersion,
} from './stubs.js';

/** The messages of an append: options and first events, then further events. */
export function appendRequests(
  correlation: string,
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): BatchRequest[] {
  const requests: BatchRequest[] = [];
  for (let at = 0; at < events.length; at += MESSAGE_EVENTS_MAX) {
    const request = new BatchAppendReq();
    request.setCorrelationId(uuid(correlation));
    if (at === 0) request.setOptions(options(stream, expected));
    request.setProposedMessagesList(events.slice(at, at + MESSAGE_EVENTS_MAX).map(proposed));
    request.setIsFinal(at + MESSAGE_EVENTS_MAX >= events.length);
    requests.push(request);
  }
  return requests;
}

function options(stream: string, expected: ExpectedRevision) {
  const result = new BatchAppendReq.Options();
  result.setStreamIdentifier(new StreamIdentifier().setStreamName(Buffer.from(stream)));
  // Any empty message encodes the same. The stubs' own type for it cannot be imported.
  if (expected === 'none') result.setNoStream(new Empty());
  else result.setStreamPosition(expected.toString());
  return result;
}

/** Data and metadata are sent unchanged. The content type lets the server's tools show them as JSON. */
function proposed({ id, type, data, metadata }: NewEvent) {
  const message = new BatchAppendReq.ProposedMessage();
  message.setId(uuid(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  message.setData(Buffer.from(data));
  message.setCustomMetadata(Buffer.from(metadata));
  return message;
}

const uuid = (text: string) => new UUID().setString(text);

/** A successful append. The server returns no position for a repeated append whose events bounds hide by now. */
export type Taken = Readonly<{ revision: number; position: bigint | undefined }>;

/** The outcome in the server's response. @throws the error that the response reports */
export function appended(
  response: BatchResponse,
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): Taken {
  const success = response.getSuccess();
  if (success) {
    const position = success.getPosition();
    return { revision: Number(success.getCurrentRevision()), position: position && BigInt(position.getCommitPosition()) };
  }
  throw refusal(response, stream, expected, events);
}

const DETAIL_PREFIX = 'event_store.client.';

/** Whether the server reports that it could not complete the append in time. */
export const isTimeout = (response: BatchResponse): boolean => detailOf(response)?.getTypeName() === `${DETAIL_PREFIX}Timeout`;

const detailOf = (response: BatchResponse) => response.getError()?.getDetails();

function refusal(response: BatchResponse, stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Error {
  const status = response.getError();
  const details = detailOf(response);
  const name = details?.getTypeName() ?? '';
  switch (name) {
    case `${DETAIL_PREFIX}WrongExpectedVersion`: {
      const wrong = details!.unpack((bytes) => WrongExpectedVersion.deserializeBinary(bytes), name);
      return new WrongRevision(stream, expected, wrong ? actual(wrong) : 'unknown');
    }
    case `${DETAIL_PREFIX}StreamDeleted`:
      return new StreamGone(stream);
    case `${DETAIL_PREFIX}MaximumAppendSizeExceeded`:
      return new AppendTooLarge(stream, appendBytes(events));
    case `${DETAIL_PREFIX}AccessDenied`:
    case `${DETAIL_PREFIX}BadRequest`:
      return new StoreRefused(`EventStoreDB refuses an append to ${stream}: ${status?.getMessage() || name}`);
    default:
      return new StoreUnavailable(
        `EventStoreDB did not append to ${stream}: ${status?.getMessage() || name || 'no reason given'}`,
      );
  }
}

function actual(wrong: InstanceType<typeof WrongExpectedVersion>): ExpectedRevision | 'unknown' {
  if (wrong.hasCurrentNoStream()) return 'none';
  return wrong.hasCurrentStreamRevision() ? Number(wrong.getCurrentStreamRevision()) : 'unknown';
}
