import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';

import type { Expectation, LogRecord, Outcome, Proposed } from './log.js';

type StreamIdentifier = sharedPb.StreamIdentifier;

export const nameOf = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString();

function identifierOf(stream: string): StreamIdentifier {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  return identifier;
}

export function proposedIn(message: streamsPb.AppendReq.ProposedMessage | streamsPb.BatchAppendReq.ProposedMessage): Proposed {
  const metadata = message.getMetadataMap();
  return {
    id: message.getId()?.getString().toLowerCase() ?? '',
    type: metadata.get('type') ?? '',
    contentType: metadata.get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

/** The size of an append that the server compares with its limit. */
export const appendSize = (events: readonly Proposed[]): number =>
  events.reduce((sum, { data, metadata, type }) => sum + data.length + metadata.length + 2 * type.length, 0);

const encoded = new WeakMap<LogRecord, Buffer>();

/** An event in the format for readers, serialised once. */
export function encodedEvent(record: LogRecord): Buffer {
  let bytes = encoded.get(record);
  if (!bytes) encoded.set(record, (bytes = Buffer.from(eventMessage(record).serializeBinary())));
  return bytes;
}

function eventMessage(record: LogRecord): streamsPb.ReadResp {
  const id = new sharedPb.UUID();
  id.setString(record.id);
  const recorded = new streamsPb.ReadResp.ReadEvent.RecordedEvent();
  recorded.setId(id);
  recorded.setStreamIdentifier(identifierOf(record.stream));
  recorded.setStreamRevision(record.revision.toString());
  recorded.setCommitPosition(record.position.toString());
  recorded.setPreparePosition(record.position.toString());
  recorded.getMetadataMap().set('type', record.type);
  recorded.getMetadataMap().set('content-type', record.contentType);
  recorded.getMetadataMap().set('created', record.created.toString());
  recorded.setData(record.data);
  recorded.setCustomMetadata(record.metadata);
  const event = new streamsPb.ReadResp.ReadEvent();
  event.setEvent(recorded);
  event.setCommitPosition(record.position.toString());
  return new streamsPb.ReadResp().setEvent(event);
}

export function checkpointMessage(position: bigint): streamsPb.ReadResp {
  const checkpoint = new streamsPb.ReadResp.Checkpoint();
  checkpoint.setCommitPosition(position.toString());
  checkpoint.setPreparePosition(position.toString());
  return new streamsPb.ReadResp().setCheckpoint(checkpoint);
}

/** The position that a subscription reports before it has considered any event. */
export const NO_POSITION = 2n ** 64n - 1n;

export const streamEndMessage = (revision: number) => new streamsPb.ReadResp().setLastStreamPosition(revision.toString());

export function confirmationMessage(id: string): streamsPb.ReadResp {
  return new streamsPb.ReadResp().setConfirmation(new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(id));
}

export const caughtUpMessage = () => new streamsPb.ReadResp().setCaughtUp(new streamsPb.ReadResp.CaughtUp());
export const fellBehindMessage = () => new streamsPb.ReadResp().setFellBehind(new streamsPb.ReadResp.FellBehind());

export function notFoundMessage(stream: string): streamsPb.ReadResp {
  const notFound = new streamsPb.ReadResp.StreamNotFound();
  notFound.setStreamIdentifier(identifierOf(stream));
  return new streamsPb.ReadResp().setStreamNotFound(notFound);
}

/** The statuses that a batch append returns for errors: `google.rpc.Status` with a detail that the client recognises by name. */
export const batchErrors = {
  wrongExpectedVersion(current: number | undefined, expected: Expectation) {
    const detail = new sharedPb.WrongExpectedVersion();
    if (current === undefined) detail.setCurrentNoStream(emptyIn());
    else detail.setCurrentStreamRevision(current.toString());
    if (expected === 'no_stream') detail.setExpectedNoStream(emptyIn());
    else if (expected === 'stream_exists') detail.setExpectedStreamExists(emptyIn());
    else if (expected === 'any') detail.setExpectedAny(emptyIn());
    else detail.setExpectedStreamPosition(expected.toString());
    return errorStatus(6, 'WrongExpectedVersion', detail.serializeBinary());
  },
  streamDeleted(stream: string) {
    const detail = new sharedPb.StreamDeleted().setStreamIdentifier(identifierOf(stream));
    return errorStatus(5, 'StreamDeleted', detail.serializeBinary());
  },
  maximumAppendSizeExceeded(bytes: number) {
    const detail = new sharedPb.MaximumAppendSizeExceeded().setMaxappendsize(bytes);
    return errorStatus(3, 'MaximumAppendSizeExceeded', detail.serializeBinary());
  },
  badRequest(message: string) {
    return errorStatus(3, 'BadRequest', new sharedPb.BadRequest().setMessage(message).serializeBinary());
  },
  accessDenied: () => errorStatus(7, 'AccessDenied', new Uint8Array()),
  timeout: () => errorStatus(4, 'Timeout', new Uint8Array()),
  unknown: () => errorStatus(2, 'Unknown', new Uint8Array()),
  /** The status of a server that starts or is overloaded: an empty detail and a text. */
  busy: () => errorStatus(0, '', new Uint8Array(), 'Server Is Busy'),
};

export function batchResponse(correlation: sharedPb.UUID | undefined, stream: string): streamsPb.BatchAppendResp {
  return new streamsPb.BatchAppendResp().setCorrelationId(correlation).setStreamIdentifier(identifierOf(stream));
}

/** The response to a batch append. Without a position if readers no longer see the events, as the server does. */
export function batchSuccess({
  revision,
  position,
  hidden = false,
}: Extract<Outcome, { kind: 'done' }>): streamsPb.BatchAppendResp.Success {
  const success = new streamsPb.BatchAppendResp.Success().setCurrentRevision(revision.toString());
  if (hidden) return success.setNoPosition(emptyIn());
  const place = new sharedPb.AllStreamPosition().setCommitPosition(position.toString()).setPreparePosition(position.toString());
  return success.setPosition(place);
}

type Detail = NonNullable<ReturnType<statusPb.Status['getDetails']>>;
type Empty = NonNullable<ReturnType<sharedPb.WrongExpectedVersion['getCurrentNoStream']>>;

/** A status with an empty detail (field 3). It is encoded by hand because the stubs bundle an `Any` that cannot be imported. */
const STATUS_WITH_DETAIL = new Uint8Array([0x1a, 0x00]);
const VERSION_WITH_NO_STREAM = new Uint8Array([0x12, 0x00]);

function errorStatus(code: number, name: string, detail: Uint8Array, message = name): statusPb.Status {
  const status = statusPb.Status.deserializeBinary(STATUS_WITH_DETAIL);
  const any: Detail = status.getDetails()!;
  any.pack(detail, name ? `event_store.client.${name}` : 'google.protobuf.Empty');
  status.setDetails(any);
  status.setCode(code);
  return status.setMessage(message);
}

const emptyIn = (): Empty => sharedPb.WrongExpectedVersion.deserializeBinary(VERSION_WITH_NO_STREAM).getCurrentNoStream()!;
