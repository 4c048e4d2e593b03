import { createServer, type Server as NetServer, type Socket } from 'node:net';

import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
} from '@grpc/grpc-js';

import { freePort } from '../free-port.js';
import { append, batchAppend, deleteStream, tombstoneStream } from './appends.js';
import { clusterInfo, supportedMethods } from './cluster.js';
import { Commits } from './commits.js';
import { Faults } from './faults.js';
import { openJournal } from './journal.js';
import { Log } from './log.js';
import { read, type ReadCall } from './reads.js';
import { refusedAtOnce } from './refusals.js';
import type { ServerState } from './server-state.js';

const HOST = '127.0.0.1';
const MAX_APPEND_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The service definition, except that a response to a read may already be serialised. */
const SERVICE = {
  ...streamsGrpc.StreamsService,
  read: {
    ...streamsGrpc.StreamsService.read,
    responseSerialize: (answer: streamsPb.ReadResp | Buffer) =>
      Buffer.isBuffer(answer) ? answer : Buffer.from(answer.serializeBinary()),
  },
};

export type DoubleOptions = Readonly<{
  port?: number;
  /** A file in which acknowledged events are kept, and from which the log starts. */
  persist?: string;
  maxAppendBytes?: number;
  /** The maximum time for which accepted events stay invisible, instead of the usual delays. */
  invisibleMsMax?: number;
}>;

/**
 * A substitute for an EventStoreDB server that speaks its gRPC protocol on 127.0.0.1: streams, the whole log, filters, stream
 * metadata and the server's own idempotency, with the faults that a test injects.
 */
export class EventStoreDbDouble {
  readonly faults = new Faults();
  private readonly sockets = new Set<Socket>();
  private readonly state: ServerState;
  private readonly closeJournal: () => void;
  private listener: NetServer | undefined;
  private grpc: Server | undefined;
  port: number;

  private constructor(private readonly options: DoubleOptions) {
    const { port = 0, persist, maxAppendBytes = MAX_APPEND_BYTES } = options;
    const { log, close } = persist ? openJournal(persist) : { log: new Log(), close: () => {} };
    this.port = port;
    this.closeJournal = close;
    const dropConnections = () => this.dropConnections();
    const commits = this.commitsOf(log);
    this.state = { log, commits, faults: this.faults, maxAppendBytes, delivered: 0, appendsSeen: 0, readers: 0, dropConnections };
  }

  static async start(options: DoubleOptions = {}): Promise<EventStoreDbDouble> {
    const double = new EventStoreDbDouble(options);
    await double.listen();
    return double;
  }

  get connectionString(): string {
    return `esdb://${HOST}:${this.port}?tls=false`;
  }

  get delivered(): number {
    return this.state.delivered;
  }

  get appendsSeen(): number {
    return this.state.appendsSeen;
  }

  get readers(): number {
    return this.state.readers;
  }

  /** Decides when accepted events are committed. A test may set other delays. */
  get commits(): Commits {
    return this.state.commits;
  }

  /** Resolves once `count` events have been accepted that are not visible yet. */
  async accepted(count: number): Promise<void> {
    while (this.log.underWay.length < count) await new Promise((resolve) => setImmediate(resolve));
  }

  get log(): Log {
    return this.state.log;
  }

  /** Accepts connections on the same port as before, with all acknowledged events. */
  async listen(): Promise<void> {
    const grpc = this.serve();
    const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
    this.grpc = grpc;
    this.listener = createServer((socket) => {
      socket.setNoDelay(true);
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
      injector.injectConnection(socket);
    });
    const { listener } = this;
    this.port ||= await freePort();
    await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(this.port, HOST, resolve));
  }

  /** Behaves like a crash: cuts every connection and stops listening until `listen` is called. */
  async crash(): Promise<void> {
    const { listener, grpc } = this;
    this.listener = this.grpc = undefined;
    const closed = new Promise((resolve) => (listener ? listener.close(resolve) : resolve(undefined)));
    this.dropConnections();
    grpc?.forceShutdown();
    this.state.commits.crash();
    this.state.commits = this.commitsOf(this.state.log);
    await closed;
  }

  /** Refuses new connections until `listen` is called. Existing ones remain. */
  refuseConnections(): void {
    this.listener?.close();
  }

  /** Cuts every connection. New ones are accepted at once. */
  dropConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    await this.crash();
    this.closeJournal();
  }

  private commitsOf(log: Log): Commits {
    const commits = new Commits(log);
    const { invisibleMsMax } = this.options;
    if (invisibleMsMax !== undefined) commits.delayMs = () => Math.floor(Math.random() * (invisibleMsMax + 1));
    return commits;
  }

  private serve(): Server {
    const server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_BYTES });
    const { state } = this;
    server.addService(SERVICE, {
      read: (call: ReadCall) => void read(state, call),
      append: (
        call: ServerReadableStream<streamsPb.AppendReq, streamsPb.AppendResp>,
        answer: sendUnaryData<streamsPb.AppendResp>,
      ) => append(state, call, answer),
      batchAppend: (call: ServerDuplexStream<streamsPb.BatchAppendReq, streamsPb.BatchAppendResp>) => batchAppend(state, call),
      delete: (call: ServerUnaryCall<streamsPb.DeleteReq, streamsPb.DeleteResp>, answer: sendUnaryData<streamsPb.DeleteResp>) =>
        deleteStream(state, call, answer),
      tombstone: (
        call: ServerUnaryCall<streamsPb.TombstoneReq, streamsPb.TombstoneResp>,
        answer: sendUnaryData<streamsPb.TombstoneResp>,
      ) => tombstoneStream(state, call, answer),
    });
    server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods: supportedMethods });
    server.addService(gossipGrpc.GossipService, {
      read: (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
        const refused = refusedAtOnce(this.faults, call.metadata);
        const { host, port } = this.faults.leader ?? { host: HOST, port: this.port };
        answer(refused ?? null, refused ? undefined : clusterInfo(host, port));
      },
    });
    return server;
  }
}
