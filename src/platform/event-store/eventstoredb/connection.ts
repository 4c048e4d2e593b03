import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { type Answer, decodeAnswer } from './answer.js';
import { type ClientInternals, openClient } from './client.js';
import { connectionTarget } from './connection-string.js';
import { isNoLeaderFound, meaningOf, StoreRefused } from './errors.js';
import { CLOSE_DEADLINE_MS } from './limits.js';
import { Reachability } from './reachability.js';
import { type BatchCall, type ReadCall, type ReadRequest, type Streams, StreamsClient, StreamsService } from './stubs.js';
import { withTimeout } from './with-timeout.js';

/** A call, and a function that drops its connection. */
export type Opened<Call> = Readonly<{ call: Call; giveUp: () => void }>;

/** The gRPC code UNAVAILABLE. It makes the client open a new connection, in a cluster to the current leader. */
const UNAVAILABLE = 14;

/**
 * The client's connection (addresses, cluster discovery, redirection to the leader, TLS, credentials) without its commands. The
 * client's appends share a queue among all clients of the process, never time out, and become uncaught exceptions when a call
 * fails. Its reads cannot filter, parse data that the adapter needs as bytes, and stall without an error.
 */
export class Connection {
  private readonly client: ClientInternals;
  private readonly reachability: Reachability;
  private latest: Opened<unknown> | undefined;
  private closed = false;

  /** @throws BadConnectionString */
  constructor(connectionString: string) {
    const target = connectionTarget(connectionString);
    this.client = openClient(target);
    this.reachability = new Reachability(target);
    // The client calls this for every broken call and ignores the promise, which rejects while no server is found.
    const recover = this.client.handleError.bind(this.client);
    this.client.handleError = (client, error) => recover(client, error).catch(() => undefined);
  }

  read(request: ReadRequest): Promise<Opened<ReadCall>> {
    const { path, requestSerialize } = StreamsService.read;
    return this.open('read', (client) =>
      client.makeServerStreamRequest<ReadRequest, Answer>(path, requestSerialize, decodeAnswer, request, ...this.callArguments()),
    );
  }

  batchAppend(): Promise<Opened<BatchCall>> {
    return this.open('batchAppend', (client) => client.batchAppend(...this.callArguments()));
  }

  /** The version that the server reports. */
  async serverVersion(): Promise<string> {
    try {
      return (await this.client.capabilities).serverVersion;
    } catch (error) {
      throw await this.explained(error);
    }
  }

  /** The meaning of an error. If the server cannot be reached, it adds the reason, which the client does not report. */
  async explained(error: unknown): Promise<Error> {
    const meaning = meaningOf(error);
    if (this.closed || !(meaning instanceof StoreUnavailable)) return meaning;
    const trouble = await this.reachability.trouble(isNoLeaderFound(meaning.cause)).catch(() => undefined);
    return trouble === undefined ? meaning : new StoreUnavailable(`EventStoreDB is not available: ${trouble}.`);
  }

  /** Breaks the calls in progress and refuses further ones. */
  async close(): Promise<void> {
    this.closed = true;
    await withTimeout(CLOSE_DEADLINE_MS, this.client.dispose(), () => new Error()).catch(() => undefined);
    this.latest?.giveUp();
  }

  /** All calls go to the leader, reads included, because decisions depend on them. */
  private callArguments() {
    return this.client.callArguments({ requiresLeader: true }, { deadline: Infinity });
  }

  private async open<Call extends ReadCall | BatchCall>(name: string, create: (client: Streams) => Call): Promise<Opened<Call>> {
    if (this.closed) throw new StoreRefused('The connection to EventStoreDB is closed.');
    let giveUp = () => {};
    const call = await this.client.GRPCStreamCreator(StreamsClient, name, (client) => {
      giveUp = () => void this.client.handleError(client, Object.assign(new Error('Given up.'), { code: UNAVAILABLE }));
      return create(client);
    })();
    if (this.closed) call.cancel();
    this.latest = { call, giveUp };
    return { call, giveUp };
  }
}
