import { Worker } from 'node:worker_threads';
import { ForeignDatabaseFailed, ForeignDatabases, type ForeignQuery, type ForeignRows } from './foreign-database.port.js';
import { AddressRefused } from '../../../platform/outgoing/outgoing-http.port.js';
import { AddressGuard, type Resolve, resolveByDns } from '../../../platform/outgoing/address-guard.js';
import { PrivateHosts } from '../../../platform/outgoing/private-hosts.js';
import { connectionTarget, type ConnectionTarget } from './connection-target.js';
import { failureText, OUTCOME_UNKNOWN } from './query-failures.js';
import { QUERY_LIMITS, type QueryLimits } from './query-limits.js';
import type { QueryJob, QueryReply } from './query-thread.js';

/** The time limit for the DNS lookup of a host before its connection string is stored. */
const CHECK_MS_MAX = 5_000;

/** The time that a thread has to close its connection after it has replied. Then it is terminated. */
const GOODBYE_MS_MAX = 2_000;

const THREAD_MEGABYTES_MAX = 128;

const ENTRY = new URL('./query-thread.js', import.meta.url);

export type GuardedDatabasesOptions = Readonly<{
  /** As in `ALLOWED_PRIVATE_HOSTS`. */
  privateHosts?: readonly string[];
  resolve?: Resolve;
  limits?: Partial<QueryLimits>;
}>;

/**
 * Queries databases that users name. The address guard of all outgoing connections applies. Each query runs in a new thread
 * without the environment variables of this process, because a hostile server can make the driver compute passwords for minutes
 * or throw where no caller catches. Then only that thread ends.
 */
export class GuardedDatabases extends ForeignDatabases {
  private readonly guard: AddressGuard;
  private readonly limits: QueryLimits;
  private running = 0;

  constructor({ privateHosts = [], resolve = resolveByDns, limits = {} }: GuardedDatabasesOptions = {}) {
    super();
    this.guard = new AddressGuard(new PrivateHosts(privateHosts), resolve);
    this.limits = { ...QUERY_LIMITS, ...limits };
  }

  /** Accepts a host name that cannot be resolved now. It is resolved again at each query. @throws ForeignDatabaseFailed */
  async check(connectionString: string): Promise<void> {
    const addresses = this.guard.addressesOf(connectionTarget(connectionString));
    await before(AbortSignal.timeout(CHECK_MS_MAX), addresses).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw addressRefused(error);
    });
  }

  async query(connectionString: string, { statement, mayWrite, signal }: ForeignQuery): Promise<ForeignRows> {
    const target = connectionTarget(connectionString);
    const { limits } = this;
    if (this.running >= limits.atOnceMax) {
      throw new ForeignDatabaseFailed('Too many databases are being asked right now. Try again.');
    }
    this.running++;
    const ended = () => void this.running--;
    const deadline = AbortSignal.timeout(limits.deadlineMs);
    const over = AbortSignal.any([signal, deadline]);
    const addresses = await this.addresses(target, over).catch((error: unknown) => {
      ended();
      throw signal.aborted ? signal.reason : error;
    });
    const reply = await ask({ target, addresses, statement, mayWrite, limits }, over, ended);
    if (signal.aborted) throw signal.reason;
    if (reply === undefined) {
      const late = `The database did not answer within ${limits.deadlineMs / 1000} seconds.`;
      throw new ForeignDatabaseFailed(mayWrite ? `${late} ${OUTCOME_UNKNOWN}` : late);
    }
    if ('failed' in reply) throw new ForeignDatabaseFailed(failureText(reply.failed, { target, mayWrite, limits }));
    return reply.rows;
  }

  private async addresses(target: ConnectionTarget, over: AbortSignal): Promise<readonly string[]> {
    try {
      const resolved = await before(over, this.guard.addressesOf(target));
      return resolved.map(({ address }) => address);
    } catch (error) {
      if (error instanceof AddressRefused) throw addressRefused(error);
      throw new ForeignDatabaseFailed('The host of the database cannot be found right now.', { cause: error });
    }
  }
}

const addressRefused = (cause: AddressRefused) =>
  new ForeignDatabaseFailed('The host of the database may not be reached from here: it is not a public address.', { cause });

/** Runs a job in a new thread. Undefined if the signal aborts first. */
function ask(workerData: QueryJob, over: AbortSignal, onEnd: () => void): Promise<QueryReply | undefined> {
  const resourceLimits = { maxOldGenerationSizeMb: THREAD_MEGABYTES_MAX };
  const worker = new Worker(ENTRY, { env: {}, execArgv: [], resourceLimits, workerData });
  const end = () => void worker.terminate();
  return new Promise<QueryReply | undefined>((resolve) => {
    const giveUp = () => {
      end();
      resolve(undefined);
    };
    if (over.aborted) giveUp();
    over.addEventListener('abort', giveUp, { once: true });
    worker.once('message', (reply: QueryReply) => {
      over.removeEventListener('abort', giveUp);
      worker.unref();
      const goodbye = setTimeout(end, GOODBYE_MS_MAX).unref();
      worker.once('exit', () => clearTimeout(goodbye));
      resolve(reply);
    });
    worker.on('error', () => resolve({ failed: { stage: 'running' } }));
    worker.once('exit', () => {
      onEnd();
      resolve({ failed: { stage: 'running' } });
    });
  });
}

async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const over = new Promise<never>((_, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  return Promise.race([work, over]);
}
