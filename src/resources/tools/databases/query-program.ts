import crypto from 'node:crypto';
import { connect, type Socket } from 'node:net';
import postgres, { type Options, type Sql } from 'postgres';
import { exactJson } from '../../exact-json.policy.js';
import { answerQuestions } from '../../../platform/sandbox/answer-questions.js';
import type { ForeignRows } from './foreign-database.port.js';
import type { ConnectionTarget, Encryption } from './connection-target.js';
import type { QueryLimits } from './query-limits.js';
import { CollectedRows } from './collected-rows.js';

export type QueryJob = Readonly<{
  target: ConnectionTarget;
  /** The only addresses to connect to. The host is not resolved again, so DNS cannot change them after the check. */
  addresses: readonly string[];
  statement: string;
  mayWrite: boolean;
  limits: QueryLimits;
}>;

/**
 * The stage of a failure says whether the statement may have run. `text` is the server's error message. `crashed`: the process
 * ended without a reply.
 */
export type QueryFailure = Readonly<{
  stage: 'connecting' | 'running';
  code?: string;
  text?: string;
  tooMuch?: true;
  crashed?: true;
}>;

export type QueryReply = Readonly<{ rows: ForeignRows }> | Readonly<{ failed: QueryFailure }>;

const BATCH_ROWS = 100;
const POLL_MS = 10;
const END_SECONDS = 1;
/** Postgres uses 4,096 iterations by default. A million take half a second. */
const PASSWORD_ITERATIONS_MAX = 1_000_000;
const NUMBERS = [20, 21, 23, 26, 700, 701, 1700];

/**
 * Keeps values as Postgres writes them where JavaScript would lose something: dates do not become local time, numbers are not
 * rounded, and bytes stay text.
 */
const TYPES = {
  date: asItIs(1184, [1082, 1083, 1114, 1184, 1266]),
  bytea: asItIs(17, [17]),
  number: { to: 0, from: NUMBERS, serialize: String, parse: exactNumber },
  json: { to: 114, from: [114, 3802], serialize: String, parse: exactJson },
};

function asItIs(to: number, from: number[]) {
  return { to, from, serialize: (value: string) => value, parse: (text: string) => text };
}

function exactNumber(text: string): number | string {
  const number = Number(text);
  return String(number) === text ? number : text;
}

const ENCRYPTION: Readonly<Record<Encryption, NonNullable<Options<never>['ssl']>>> = {
  none: false,
  preferred: 'prefer',
  required: 'require',
  verified: 'verify-full',
};

async function answer({ target, addresses, statement, mayWrite, limits }: QueryJob): Promise<QueryReply> {
  let stage: QueryFailure['stage'] = 'connecting';
  let received: Socket | undefined;
  let tooMuch = false;
  const socket = async () => {
    if (received) throw new Error('One connection is all there is.');
    received = await connected(addresses, target.port, limits.connectMs);
    // The driver takes the name that the certificate must have from here.
    return Object.assign(received, { host: target.host });
  };
  const poll = setInterval(() => {
    if ((received?.bytesRead ?? 0) <= limits.receivedBytesMax) return;
    tooMuch = true;
    received?.destroy();
  }, POLL_MS);
  const sql = postgres(optionsFor(target, limits, socket));
  try {
    // After its first query a transaction cannot be changed from read-only to writing.
    const access = mayWrite ? 'read write' : 'read only';
    await sql.unsafe(`begin ${access}; set local statement_timeout = ${limits.statementMs}; select 1`).simple();
    stage = 'running';
    const rows = await run(sql, statement, limits);
    await sql.unsafe(mayWrite ? 'commit' : 'rollback').simple();
    return { rows };
  } catch (error) {
    return { failed: { stage, ...(tooMuch ? { tooMuch } : serverWords(error)) } };
  } finally {
    clearInterval(poll);
    await sql.end({ timeout: END_SECONDS });
  }
}

type Done = readonly (readonly unknown[])[] &
  Readonly<{ columns?: readonly { name: string }[]; command?: string; count?: number | null }>;

/** Runs a statement in the extended protocol, which allows only one statement and returns the rows in batches. */
async function run(sql: Sql, statement: string, limits: QueryLimits): Promise<ForeignRows> {
  const collected = new CollectedRows(limits);
  const options = { simple: false, prepare: false } as { prepare: boolean };
  const query = sql.unsafe(statement, [], options);
  void query.values();
  const done = (await query.cursor(BATCH_ROWS, (batch) => {
    const { columns } = batch as unknown as { columns: readonly { name: string }[] };
    return collected.take(columns, batch as unknown as readonly (readonly unknown[])[]) ? undefined : sql.CLOSE;
  })) as unknown as Done;
  // Statements without a count, such as SHOW and EXPLAIN, return their last rows with the end.
  if (!done.count) collected.take(done.columns, done);
  return collected.result(done);
}

function optionsFor(
  { user, password, database, host, encryption }: ConnectionTarget,
  limits: QueryLimits,
  socket: () => Promise<Socket>,
) {
  return {
    host,
    user,
    pass: password,
    database,
    ssl: ENCRYPTION[encryption],
    socket,
    max: 1,
    fetch_types: false,
    connect_timeout: limits.connectMs / 1000,
    connection: { application_name: 'verbatim' },
    types: TYPES,
    onnotice: () => undefined,
  } as unknown as Options<never>;
}

async function connected(addresses: readonly string[], port: number, connectMs: number): Promise<Socket> {
  const failures: unknown[] = [];
  for (const host of addresses) {
    const socket = connect({ host, port });
    try {
      return await new Promise<Socket>((resolve, reject) => {
        socket.once('connect', () => resolve(socket)).once('error', reject);
        socket.setTimeout(connectMs, () => reject(new Error('No connection in time.')));
      });
    } catch (error) {
      socket.destroy();
      failures.push(error);
    } finally {
      socket.setTimeout(0);
    }
  }
  throw new AggregateError(failures, 'No address takes a connection.');
}

function serverWords(error: unknown): Pick<QueryFailure, 'code' | 'text'> {
  if (!(error instanceof postgres.PostgresError)) return {};
  const { code, message, hint } = error;
  return { code, text: hint ? `${message} (${hint})` : message };
}

/**
 * Limits the iterations of password hashing. The server chooses their number, and this process receives nothing while it computes
 * them.
 */
function boundPasswords(): void {
  const { pbkdf2Sync } = crypto;
  crypto.pbkdf2Sync = (password, salt, iterations, ...rest) => {
    if (iterations > PASSWORD_ITERATIONS_MAX) throw new Error(`${iterations} iterations are too many.`);
    return pbkdf2Sync(password, salt, iterations, ...rest);
  };
}

boundPasswords();
answerQuestions(answer);
