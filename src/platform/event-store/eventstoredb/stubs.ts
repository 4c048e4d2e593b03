/** The generated protocol messages of the client package. They are CommonJS, so only the default import has their names. */
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';

export const { Empty, StreamIdentifier, UUID, WrongExpectedVersion } = sharedPb;
export const { BatchAppendReq, ReadReq } = streamsPb;
export const { StreamsClient, StreamsService } = streamsGrpc;

export type BatchRequest = streamsPb.BatchAppendReq;
export type BatchResponse = streamsPb.BatchAppendResp;
export type ReadRequest = streamsPb.ReadReq;
export type Streams = InstanceType<typeof streamsGrpc.StreamsClient>;
/** A read call whose answers this adapter decodes itself. */
export type ReadCall = ReturnType<Streams['makeServerStreamRequest']>;
export type BatchCall = ReturnType<Streams['batchAppend']>;
