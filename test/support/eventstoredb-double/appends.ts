import type { sendUnaryData, ServerDuplexStream, ServerReadableStream, ServerUnaryCall } from '@grpc/grpc-js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';

import type { AppendFault } from './faults.js';
import type { Expectation, Outcome, Proposed } from './log.js';
import { appendSize, batchErrors, batchResponse, batchSuccess, nameOf, proposedIn } from './messages.js';
import { refusals, refusedAtOnce } from './refusals.js';
import type { ServerState } from './server-state.js';

const { AppendResp, DeleteResp, TombstoneResp } = streamsPb;
type BatchCall = ServerDuplexStream<streamsPb.BatchAppendReq, streamsPb.BatchAppendResp>;
type Pending = { stream: string; expected: Expectation; events: Proposed[]; until: number };

/** The time after which the server reports a timeout for an append that is identical to one under way. */
const IDENTICAL_TIMEOUT_MS = 2_000;

/** The maximum time of a write, whatever deadline the client sets. */
const WRITE_TIMEOUT_MS = 30_000;

/** The numbers of an expectation in trailers on the wire. */
const EXPECTATION_NUMBERS = { any: -2, no_stream: -1, stream_exists: -4 } as const;
const numberOf = (expected: Expectation): number => (typeof expected === 'number' ? expected : EXPECTATION_NUMBERS[expected]);

/** Many concurrent appends over one call. Each has its own response, in any order. */
export function batchAppend(server: ServerState, call: BatchCall): void {
  const refused = refusedAtOnce(server.faults, call.metadata);
  if (refused) return void call.emit('error', refused);
  const pending = new Map<string, Pending>();
  call.on('error', () => undefined);
  call.on('end', () => call.end());
  call.on('data', (request: streamsPb.BatchAppendReq) => {
    const correlation = request.getCorrelationId()?.getString() ?? '';
    const options = request.getOptions();
    if (options) pending.set(correlation, begun(options));
    const append = pending.get(correlation);
    if (!append) return;
    append.events.push(...request.getProposedMessagesList().map(proposedIn));
    if (!request.getIsFinal()) return;
    pending.delete(correlation);
    void answerBatch(server, call, request, append);
  });
}

function begun(options: streamsPb.BatchAppendReq.Options): Pending {
  const deadline = options.getDeadline()?.toDate().getTime() ?? Infinity;
  const until = Math.min(deadline, Date.now() + WRITE_TIMEOUT_MS);
  return { stream: nameOf(options.getStreamIdentifier()), expected: expectedByBatch(options), events: [], until };
}

async function answerBatch(
  server: ServerState,
  call: BatchCall,
  request: streamsPb.BatchAppendReq,
  append: Pending,
): Promise<void> {
  server.appendsSeen += 1;
  await server.faults.delay();
  const fault = server.faults.onAppend?.(append.stream);
  const response = batchResponse(request.getCorrelationId(), append.stream);
  if (Date.now() > append.until) response.setError(batchErrors.timeout());
  else if (!fault || fault.written) await answerWith(response, server, append);
  if (fault && fault.answer !== 'timeout' && fault.answer !== 'busy' && fault.answer !== 'unknown')
    return breakBatch(server, call, fault.answer);
  if (fault && isAnswer(fault.answer)) {
    response.clearSuccess();
    response.setError(batchErrors[fault.answer]());
  }
  if (!call.cancelled && call.writable) call.write(response);
}

const isAnswer = (answer: AppendFault['answer']) => answer === 'timeout' || answer === 'busy' || answer === 'unknown';

function breakBatch(server: ServerState, call: BatchCall, answer: AppendFault['answer']): void {
  if (answer === 'unavailable') call.emit('error', refusals.unavailable());
  else if (answer === 'not-leader') call.emit('error', refusals.notLeader(server.faults));
  else if (answer === 'disconnect') server.dropConnections();
}

async function answerWith(
  response: streamsPb.BatchAppendResp,
  server: ServerState,
  { stream, expected, events }: Pending,
): Promise<void> {
  if (appendSize(events) > server.maxAppendBytes)
    return void response.setError(batchErrors.maximumAppendSizeExceeded(server.maxAppendBytes));
  const outcome = await committed(server, server.log.append(stream, expected, events));
  if (outcome.kind === 'done') response.setSuccess(batchSuccess(outcome));
  else if (outcome.kind === 'under-way') response.setError(batchErrors.timeout());
  else if (outcome.kind === 'deleted') response.setError(batchErrors.streamDeleted(stream));
  else response.setError(batchErrors.wrongExpectedVersion(outcome.current, expected));
}

/** Success is reported once readers see the events. A refusal is reported at once, from the writer's state. */
async function committed(server: ServerState, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind === 'done') await server.commits.until(outcome.position);
  if (outcome.kind === 'under-way') await new Promise((resolve) => setTimeout(resolve, IDENTICAL_TIMEOUT_MS));
  return outcome;
}

/** One append per call: first the options, then one event per message. */
export function append(
  server: ServerState,
  call: ServerReadableStream<streamsPb.AppendReq, streamsPb.AppendResp>,
  answer: sendUnaryData<streamsPb.AppendResp>,
): void {
  let options: streamsPb.AppendReq.Options | undefined;
  const events: Proposed[] = [];
  call.on('error', () => undefined);
  call.on('data', (request: streamsPb.AppendReq) => {
    options ??= request.getOptions();
    const message = request.getProposedMessage();
    if (message) events.push(proposedIn(message));
  });
  const respond = async (): Promise<void> => {
    const refused = refusedAtOnce(server.faults, call.metadata);
    if (refused) return answer(refused);
    if (!options) return answer(refusals.invalid('The options are missing.'));
    if (appendSize(events) > server.maxAppendBytes) return answer(refusals.tooLarge(server.maxAppendBytes));
    const stream = nameOf(options.getStreamIdentifier());
    const expected = expectedByAppend(options);
    const outcome = await committed(server, server.log.append(stream, expected, events));
    if (outcome.kind === 'deleted') return answer(refusals.streamDeleted(stream));
    if (outcome.kind === 'under-way') return answer(refusals.timeout());
    answer(null, appendResponse(outcome, expected));
  };
  call.on('end', () => void respond());
}

function appendResponse(outcome: Extract<Outcome, { kind: 'done' | 'wrong' }>, expected: Expectation): streamsPb.AppendResp {
  const response = new AppendResp();
  if (outcome.kind === 'done') {
    const position = outcome.position.toString();
    const place = new AppendResp.Position().setCommitPosition(position).setPreparePosition(position);
    return response.setSuccess(new AppendResp.Success().setCurrentRevision(outcome.revision.toString()).setPosition(place));
  }
  const wrong = new AppendResp.WrongExpectedVersion();
  if (outcome.current !== undefined) wrong.setCurrentRevision(outcome.current.toString());
  if (typeof expected === 'number') wrong.setExpectedRevision(expected.toString());
  return response.setWrongExpectedVersion(wrong);
}

export function deleteStream(
  server: ServerState,
  call: ServerUnaryCall<streamsPb.DeleteReq, streamsPb.DeleteResp>,
  answer: sendUnaryData<streamsPb.DeleteResp>,
): void {
  void remove(
    server,
    call,
    answer,
    (stream, expected) => server.log.delete(stream, expected),
    (position) =>
      new DeleteResp().setPosition(new DeleteResp.Position().setCommitPosition(position).setPreparePosition(position)),
  );
}

export function tombstoneStream(
  server: ServerState,
  call: ServerUnaryCall<streamsPb.TombstoneReq, streamsPb.TombstoneResp>,
  answer: sendUnaryData<streamsPb.TombstoneResp>,
): void {
  void remove(
    server,
    call,
    answer,
    (stream, expected) => server.log.tombstone(stream, expected),
    (position) =>
      new TombstoneResp().setPosition(new TombstoneResp.Position().setCommitPosition(position).setPreparePosition(position)),
  );
}

async function remove<Response>(
  server: ServerState,
  call: ServerUnaryCall<streamsPb.DeleteReq | streamsPb.TombstoneReq, Response>,
  answer: sendUnaryData<Response>,
  how: (stream: string, expected: Expectation) => Outcome,
  done: (position: string) => Response,
): Promise<void> {
  const refused = refusedAtOnce(server.faults, call.metadata);
  const options = call.request.getOptions();
  if (refused || !options) return answer(refused ?? refusals.invalid('The options are missing.'));
  const stream = nameOf(options.getStreamIdentifier());
  const expected = expectedByAppend(options);
  const outcome = await committed(server, how(stream, expected));
  if (outcome.kind === 'deleted') return answer(refusals.streamDeleted(stream));
  if (outcome.kind === 'under-way') return answer(refusals.timeout());
  if (outcome.kind === 'wrong') return answer(refusals.wrongExpectedVersion(stream, numberOf(expected), outcome.current));
  answer(null, done(outcome.position.toString()));
}

function expectedByBatch(options: streamsPb.BatchAppendReq.Options): Expectation {
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasAny()) return 'any';
  return Number(options.getStreamPosition());
}

function expectedByAppend(
  options: streamsPb.AppendReq.Options | streamsPb.DeleteReq.Options | streamsPb.TombstoneReq.Options,
): Expectation {
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasAny()) return 'any';
  return Number(options.getRevision());
}
