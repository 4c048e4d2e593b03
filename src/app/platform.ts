import { join } from 'node:path';
import type { Sql } from 'postgres';
import type { Blobs } from '../kernel/blobs.js';
import type { EventStore } from '../kernel/event-sourcing/event-store.js';
import { isDiskFull } from '../kernel/full-disk.js';
import type { KeyValue } from '../kernel/messaging/key-value.js';
import type { Signals } from '../kernel/messaging/signals.js';
import type { WorkQueue } from '../kernel/messaging/work-queue.js';
import type { CredentialUses } from '../platform/credentials/credential-uses.port.js';
import type { CredentialVault } from '../platform/credentials/credential-vault.port.js';
import type { OutgoingHttp } from '../platform/outgoing/outgoing-http.port.js';
import { FolderBlobs } from '../platform/blobs/folder-blobs.js';
import { Closers } from '../platform/closers.js';
import type { Config } from '../platform/config/config.js';
import { PostgresCredentialUses } from '../platform/credentials/postgres-credential-uses.js';
import { IDENTITY_SCHEMA, IDENTITY_STEPS } from '../resources/identity/identity-tables.js';
import { PostgresUserAccounts } from '../resources/identity/accounts/postgres-user-accounts.js';
import { PostgresSessions } from '../resources/identity/sessions/postgres-sessions.js';
import type { Sessions } from '../resources/identity/sessions/sessions.port.js';
import type { UserAccounts } from '../resources/identity/accounts/user-accounts.port.js';
import { SealingKey } from '../platform/credentials/sealing-key.js';
import type { Seals } from '../platform/credentials/seals.port.js';
import { PostgresCredentialVault } from '../platform/credentials/postgres-credential-vault.js';
import { checkDescriptors } from '../platform/descriptors.js';
import { systemTiming } from '../platform/system-timing.js';
import { PostgresEventStore } from '../platform/event-store/postgres/postgres-event-store.js';
import { SoleWriterEventStore } from '../platform/event-store/sole-writer-event-store.js';
import { WholeLogEventStore } from '../platform/event-store/whole-log-event-store.js';
import { Progress } from '../platform/projections/progress.js';
import { InProcessKeyValue } from '../platform/messaging/key-value/in-process-key-value.js';
import { GuardedHttp } from '../platform/outgoing/guarded-http.js';
import { type DatabaseOptions, openDatabase } from '../platform/postgres/database.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.js';
import { migrate } from '../platform/postgres/migrate.js';
import { claimDatabaseAlone } from '../platform/postgres/sole-owner.js';
import { WatchedDatabase } from '../platform/postgres/watched-database.js';
import { type OnOutage, throughOutages } from '../platform/supervision/start-up.js';
import { InProcessSignals } from '../platform/messaging/signals/in-process-signals.js';
import { InProcessWorkQueue } from '../platform/messaging/work-queue/in-process-work-queue.js';
import { furthestPlace } from './furthest-place.js';
import { logUseOf } from './log-use.js';
import { readableLog } from './readable-log.js';

/** The connected dependencies of the service. */
export type Platform = Readonly<{
  config: Config;
  sql: Sql;
  store: EventStore;
  progress: Progress;
  signals: Signals;
  keyValue: KeyValue;
  queue: WorkQueue;
  blobs: Blobs;
  credentials: CredentialVault;
  credentialUses: CredentialUses;
  seals: Seals;
  accounts: UserAccounts;
  sessions: Sessions;
  outgoing: OutgoingHttp;
  /** Checks of the dependencies, by name. A check throws if its dependency does not answer. */
  checks: Readonly<Record<string, () => Promise<void>>>;
  /** Whether a dependency is down because of a full disk. */
  isDownForSpace(): boolean;
  /** Warnings for operators about the dependencies. The promise never rejects. */
  warnings: Promise<readonly string[]>;
  /** Closes everything in reverse order of opening. */
  close(): Promise<void>;
}>;

/** What the processes of a service share. */
type Shared = Pick<Platform, 'signals' | 'keyValue' | 'queue' | 'blobs' | 'checks'>;

/** How long running queries may take when the process ends. */
const CLOSE_SECONDS = 5;

/**
 * Connects to the configured dependencies and waits for unavailable ones. Dependencies that are not configured run embedded.
 * @throws UnreadableLog if the log holds events of another version
 */
export async function openPlatform(
  config: Config,
  onLost: (error: Error) => void,
  onOutage: OnOutage = () => undefined,
): Promise<Platform> {
  const closers = new Closers();
  const opened: Opened = (making, close) => closers.opened(making, close);
  try {
    const embedded = config.databaseUrl ? undefined : await openEmbedded(config, opened, onOutage);
    const url = config.databaseUrl ?? embedded!.url;
    const at = { url, socket: embedded?.socket };
    const connected = (name: string, connections: number) => () => openDatabase({ ...at, name, connections });
    const watched = new WatchedDatabase({
      open: connected('read models', config.databasePoolMax),
      probe: connected('read models, watched', 1),
    });
    const { sql } = await opened(watched, (each) => each.close(CLOSE_SECONDS));
    if (!config.natsUrl) {
      const claimed = throughOutages(systemTiming, () => claimDatabaseAlone(url, onLost), onOutage);
      await opened(claimed, (claim) => claim.release());
    }
    const log = await openEventStore(config, at, opened, onOutage);
    const closing = await opened(new AbortController(), async (controller) => controller.abort());
    const readable = await readableLog(log.store, logUseOf(config), { onLost, onOutage, signal: closing.signal });
    const progress = new Progress(systemTiming);
    const store = new WholeLogEventStore(
      readable,
      () => furthestPlace(sql),
      () => progress.forget(),
    );
    void store.keepComparing(systemTiming, closing.signal);
    const seals = new SealingKey(config.encryptionSecretKey);
    const credentials = new PostgresCredentialVault(sql, config.encryptionSecretKey);
    await throughOutages(systemTiming, () => credentials.start(), onOutage);
    const credentialUses = new PostgresCredentialUses(sql);
    await throughOutages(systemTiming, () => credentialUses.start(), onOutage);
    await throughOutages(systemTiming, () => migrate(sql, IDENTITY_SCHEMA, IDENTITY_STEPS), onOutage);
    const accounts = new PostgresUserAccounts(sql);
    const sessions = new PostgresSessions(sql, seals);
    const shared = await openShared(config, opened);
    const outgoing = await opened(new GuardedHttp({ privateHosts: config.allowedPrivateHosts }), (http) => http.close());
    const checks = {
      postgres: () => answers(sql, embedded),
      'event store': () => log.ping(),
      'file descriptors': () => checkDescriptors(),
      ...shared.checks,
    };
    const warnings = log.warning().then(
      (warning) => (warning === undefined ? [] : [warning]),
      // An event store that does not answer fails its check.
      () => [],
    );
    const isDownForSpace = () => embedded?.outage()?.isDiskFull ?? false;
    const close = () => closers.close();
    return {
      config,
      sql,
      store,
      progress,
      ...shared,
      credentials,
      credentialUses,
      accounts,
      seals,
      sessions,
      outgoing,
      checks,
      isDownForSpace,
      warnings,
      close,
    };
  } catch (error) {
    // The reason why opening failed matters more than a failure to close.
    await closers.close().catch(() => undefined);
    throw error;
  }
}

/** Starts the embedded Postgres. During an outage, such as a full disk, the start is retried. */
const openEmbedded = ({ dataDir }: Config, opened: Opened, onOutage: OnOutage): Promise<EmbeddedPostgres> =>
  opened(
    throughOutages(systemTiming, () => startEmbeddedPostgres({ dataDir }), onOutage, isDiskFull),
    (server) => server.stop(),
  );

/** Checks that Postgres answers and can store something. @throws Error with the reason, if it is known */
async function answers(sql: Sql, embedded: EmbeddedPostgres | undefined): Promise<void> {
  const outage = embedded?.outage();
  if (outage) throw new Error(outage.text);
  const [session] = await sql<{ readonly: boolean }[]>`select current_setting('transaction_read_only')::boolean as readonly`;
  if (session!.readonly) throw new Error('It is read-only, so nothing can be stored.');
}

type Opened = Closers['opened'];
type DatabaseAddress = Pick<DatabaseOptions, 'url' | 'socket'>;

type Log = Readonly<{
  store: EventStore;
  /** @throws Error if it does not answer */
  ping(): Promise<void>;
  /** What an operator should know about its server. */
  warning(): Promise<string | undefined>;
}>;

/**
 * Whether nothing but this process appends. An embedded Postgres belongs to one process, which has started it and has ended the
 * server of any earlier one. A claim to another server can be lost unnoticed.
 */
const isSoleWriter = ({ databaseUrl, natsUrl }: Config): boolean => databaseUrl === undefined && natsUrl === undefined;

/** The clients of EventStoreDB and NATS are loaded only if they are configured. */
async function openEventStore(config: Config, at: DatabaseAddress, opened: Opened, onOutage: OnOutage): Promise<Log> {
  const { eventStore, eventStoreDeadlineMs: deadlineMs } = config;
  if (eventStore !== 'postgres') {
    const { EventStoreDbEventStore } = await import('../platform/event-store/eventstoredb/eventstoredb-event-store.js');
    const options = { connectionString: eventStore, appendDeadlineMs: deadlineMs, answerDeadlineMs: deadlineMs };
    const store = await opened(new EventStoreDbEventStore(options), (each) => each.close());
    return { store, ping: () => store.ping(), warning: () => store.versionWarning() };
  }
  const store = await opened(new PostgresEventStore({ ...at, deadlineMs }), (each) => each.close());
  await throughOutages(systemTiming, () => store.start(), onOutage);
  const log = isSoleWriter(config) ? new SoleWriterEventStore(store) : store;
  return { store: log, ping: async () => void (await store.head()), warning: async () => undefined };
}

async function openShared({ natsUrl, ...config }: Config, opened: Opened): Promise<Shared> {
  if (natsUrl) return (await import('./nats-parts.js')).openNats(natsUrl, config, opened);
  return {
    signals: new InProcessSignals(),
    keyValue: new InProcessKeyValue(),
    queue: new InProcessWorkQueue(),
    blobs: new FolderBlobs(join(config.dataDir, 'blobs')),
    checks: {},
  };
}
