import postgres, { type Sql } from 'postgres';
import { asTimestamp, fromTimestamp } from '../../../projections/timestamps.js';
import { isSocketAway } from '../unix-socket.js';
import { ARRAY_TYPES } from './array-types.js';

export type DatabaseOptions = Readonly<{
  url: string;
  /** The path of the server's Unix socket, if it has one. It is faster than the address in the URL. */
  socket?: string | undefined;
  /** The application name that the server shows for each connection. */
  name: string;
  connections?: number;
  statementTimeoutMs?: number;
  /** Further session settings, by the server's names. */
  settings?: Readonly<Record<string, string | number>>;
}>;

const CONNECTIONS_DEFAULT = 10;
const CONNECT_TIMEOUT_SECONDS = 5;
const STATEMENT_TIMEOUT_MS = 30_000;
/** The longest time that a stalled transaction may hold its locks. The successor of a frozen leader must find them free. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
/** How soon the server notices a client that disappeared, in seconds. The client's locks are held until then. */
export const KEEPALIVES = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
/**
 * The planner's price of a page read out of order, where a page read in order costs 1. Its default, 4, is that of a disk with a
 * seek time: a batch of changes would read a table of 10,000 rows whole to find a hundred of them.
 */
const RANDOM_PAGE_COST = 1.1;
/** The driver's own conversion fails at `infinity`, and fails at or changes years without four digits. */
export const TYPES = {
  timestamptz: { to: 1184, from: [1184], serialize: asTimestamp, parse: fromTimestamp },
  ...ARRAY_TYPES,
};
const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 1_000;

/** The number of repairs that the patch in `patches/` makes to postgres.js. */
const REPAIRS = 8;

/** postgres.js is unpatched: a connection that breaks in a transaction may end the process or mix two transactions. */
export class DriverUnrepaired extends Error {
  override readonly name = 'DriverUnrepaired';
  constructor() {
    super(
      'The Postgres driver is not repaired, as happens when packages are installed without scripts: run `npm run postinstall`.',
    );
  }
}

/** @throws DriverUnrepaired */
export function refuseUnrepaired(driver: object & { repairs?: number }): void {
  if (driver.repairs !== REPAIRS) throw new DriverUnrepaired();
}

/** A pool of connections. It connects on first use and reconnects after an outage. @throws DriverUnrepaired */
export function openDatabase({ url, socket, name, connections, statementTimeoutMs, settings }: DatabaseOptions): Sql {
  refuseUnrepaired(postgres);
  return postgres(url, {
    ...(socket !== undefined && { path: socket }),
    max: connections ?? CONNECTIONS_DEFAULT,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    backoff: (attempt) => Math.min(RECONNECT_MS_MIN * 2 ** attempt, RECONNECT_MS_MAX) / 1000,
    onnotice: () => undefined,
    types: TYPES,
    fetch_types: false,
    connection: {
      application_name: name,
      TimeZone: 'UTC',
      statement_timeout: statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      random_page_cost: RANDOM_PAGE_COST,
      ...KEEPALIVES,
      ...settings,
    },
  });
}

const CLIENT_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
]);

/**
 * SQLSTATE classes and codes that concern the server and not the statement: connection (08), resources (53), operator
 * intervention such as shutdown, crash and timeout (57), system errors (58), and a read-only server after a failover (25006).
 */
const SERVER_STATES = /^(08|53|57|58)|^25006$/;

/** Conflicts between transactions. The statement may succeed when it is repeated. */
const CONFLICT_STATES = /^(40001|40P01|55P03)$/;

/** Whether the server was unreachable, disconnected or failed. The outcome of the statement is unknown. */
export function isConnectionError(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code !== 'string') return false;
  if (error instanceof postgres.PostgresError) return SERVER_STATES.test(code);
  return CLIENT_CODES.has(code) || isSocketAway(error);
}

/** Whether the statement may succeed when it is repeated. */
export const isPassing = (error: unknown): boolean =>
  isConnectionError(error) || (error instanceof postgres.PostgresError && CONFLICT_STATES.test(error.code));
