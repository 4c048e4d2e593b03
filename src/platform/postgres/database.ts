import postgres, { type Sql } from 'postgres';
import { asTimestamp, fromTimestamp } from '../../../projections/timestamps.js';
import { isSocketAway } from '../../kernel/unix-socket.js';

export type DatabaseOptions = Readonly<{
  url: string;
  /** The Unix socket of the server, which costs less than the address in the URL where there is one. */
  socket?: string | undefined;
  /** Shown by the server beside each connection. */
  name: string;
  connections?: number;
  statementTimeoutMs?: number;
  /** More settings of each session, as the server names them. */
  settings?: Readonly<Record<string, string | number>>;
}>;

const CONNECTIONS_DEFAULT = 10;
const CONNECT_TIMEOUT_SECONDS = 5;
const STATEMENT_TIMEOUT_MS = 30_000;
/** A transaction whose owner stalls must not hold its locks for longer. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
/** How soon the server notices that a client is gone without a word; until then its locks stay taken. In seconds. */
export const KEEPALIVES = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
/** The driver's own would fail at `infinity` and at years that do not have four digits, or make other years of them. */
export const TYPES = { timestamptz: { to: 1184, from: [1184], serialize: asTimestamp, parse: fromTimestamp } };
const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 1_000;

/** The repairs of postgres.js that this program counts on, as the patch of it in `patches/` numbers them. */
const REPAIRS = 5;

/** postgres.js as it is published: a connection that dies in a transaction may end the process, or mix two transactions. */
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

/** A pool of connections. It connects when first asked, and again whenever the server comes back. @throws DriverUnrepaired */
export function openDatabase({ url, socket, name, connections, statementTimeoutMs, settings }: DatabaseOptions): Sql {
  refuseUnrepaired(postgres);
  return postgres(url, {
    ...(socket !== undefined && { path: socket }),
    max: connections ?? CONNECTIONS_DEFAULT,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    backoff: (attempt) => Math.min(RECONNECT_MS_MIN * 2 ** attempt, RECONNECT_MS_MAX) / 1000,
    onnotice: () => undefined,
    types: TYPES,
    connection: {
      application_name: name,
      TimeZone: 'UTC',
      statement_timeout: statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
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
 * SQLSTATE classes and codes that say something about the server and nothing about the statement: connection (08), resources
 * (53), operator intervention such as shutdown, crash and time-out (57), its files (58); and a failed-over server that is read-only.
 */
const SERVER_STATES = /^(08|53|57|58)|^25006$/;

/** Victims of one another: run again, the statement may pass. */
const CONFLICT_STATES = /^(40001|40P01|55P03)$/;

/** Whether the server could not be reached, went away or could not work, so that the outcome of a statement is unknown. */
export function isConnectionError(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code !== 'string') return false;
  if (error instanceof postgres.PostgresError) return SERVER_STATES.test(code);
  return CLIENT_CODES.has(code) || isSocketAway(error);
}

/** Whether running the statement again can end otherwise. */
export const isPassing = (error: unknown): boolean =>
  isConnectionError(error) || (error instanceof postgres.PostgresError && CONFLICT_STATES.test(error.code));
