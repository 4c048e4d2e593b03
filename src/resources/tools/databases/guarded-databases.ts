import { ForeignDatabaseFailed, ForeignDatabases, type ForeignQuery, type ForeignRows } from './foreign-database.port.js';
import { AddressRefused } from '../../../platform/outgoing/outgoing-http.port.js';
import { AddressGuard, type Resolve, resolveByDns } from '../../../platform/outgoing/address-guard.js';
import { PrivateHosts } from '../../../platform/outgoing/private-hosts.js';
import { type Program, RunningProgram } from '../../../platform/sandbox/running-program.js';
import { connectionTarget, type ConnectionTarget } from './connection-target.js';
import { failureText, OUTCOME_UNKNOWN } from './query-failures.js';
import { QUERY_LIMITS, type QueryLimits } from './query-limits.js';
import type { QueryJob, QueryReply } from './query-program.js';

/** The time limit for the DNS lookup of a host before its connection string is stored. */
const CHECK_MS_MAX = 5_000;

/** The program of a query. Its process ends before its heap is larger. */
const PROGRAM: Program = { entry: new URL('./query-program.js', import.meta.url), heapMegabytesMax: 128 };

export type GuardedDatabasesOptions = Readonly<{
  /** As in `ALLOWED_PRIVATE_HOSTS`. */
  privateHosts?: readonly string[];
  resolve?: Resolve;
  limits?: Partial<QueryLimits>;
}>;

/**
 * Queries databases that users name. The address guard of all outgoing connections applies. Each query runs in a new process
 * without the environment variables of this one, because a hostile server can make the driver compute passwords for minutes,
 * throw where no caller catches or fill the memory. Then only that process ends. The limits of a thread do not suffice: V8 aborts
 * the whole process when a thread allocates memory faster than it can be stopped.
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
    const deadline = AbortSignal.timeout(limits.deadlineMs);
    const over = AbortSignal.any([signal, deadline]);
    let reply: QueryReply | undefined;
    try {
      const addresses = await this.addresses(target, over);
      reply = await ask({ target, addresses, statement, mayWrite, limits }, over);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      this.running--;
    }
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

/** Runs a job in a new process, which has ended when this resolves. Undefined if the signal aborts first. */
async function ask(job: QueryJob, over: AbortSignal): Promise<QueryReply | undefined> {
  let program: RunningProgram<QueryJob, QueryReply> | undefined;
  try {
    return await new Promise<QueryReply | undefined>((resolve) => {
      if (over.aborted) return resolve(undefined);
      over.addEventListener('abort', () => resolve(undefined), { once: true });
      program = new RunningProgram<QueryJob, QueryReply>(PROGRAM, {
        hear: (said) => {
          if (said === 'ready') program!.send({ id: 1, question: job });
          else resolve('answer' in said ? said.answer : CRASHED);
        },
        ended: () => resolve(CRASHED),
      });
    });
  } finally {
    await program?.kill();
  }
}

const CRASHED: QueryReply = { failed: { stage: 'running', crashed: true } };

async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const over = new Promise<never>((_, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  return Promise.race([work, over]);
}
