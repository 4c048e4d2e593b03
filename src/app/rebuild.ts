import { Command, Option } from 'commander';
import type { Sql } from 'postgres';
import { projections } from '../../projections/catalogue.js';
import type { Projection } from '../../projections/projection.js';
import type { EventStore } from '../kernel/event-sourcing/event-store.js';
import type { LogUse } from '../kernel/event-sourcing/log-format.js';
import { collectFailures } from '../kernel/each-of.js';
import { isDiskFull } from '../kernel/full-disk.js';
import { configOrExit } from '../platform/config/load-config.js';
import { EventStoreDbEventStore } from '../platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { PostgresEventStore } from '../platform/event-store/postgres/postgres-event-store.js';
import { requireSpaceLeft } from '../platform/free-space.js';
import { openDatabase } from '../platform/postgres/database.js';
import { DirectoryInUse } from '../platform/postgres/directory-lock.js';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-postgres.js';
import { runningPostgres } from '../platform/postgres/running-postgres.js';
import { definitionOf } from '../platform/projections/definition.js';
import { retryParked } from '../platform/projections/parking.js';
import { Rebuild, RebuildCancelled } from '../platform/projections/rebuild.js';
import { outcomeJson, outcomeLines, RebuildDisplay, verdictOf } from '../platform/projections/rebuild-display.js';
import { askToRetry, takeBackReactions } from '../platform/reactions/reaction-tables.js';
import { backOffMs } from '../platform/supervision/back-off.js';
import { isOutage } from '../platform/supervision/outage.js';
import { outagesUpTo, throughOutages } from '../platform/supervision/start-up.js';
import { systemTiming } from '../platform/system-timing.js';
import { logUseOf } from './log-use.js';
import { requireReadable } from './readable-log.js';

/** Rebuilds read models from the log while the service runs, or only reports whether they match the log. */
const CONNECTIONS = 6;
const OUTAGES_IN_A_ROW_MAX = 20;
/** `found`: rows that differ, or entities that stay parked. `failed`: it was not possible to find out. */
const EXIT = { done: 0, found: 1, failed: 2, cancelled: 130 } as const;
const EXIT_OF_VERDICT = { same: EXIT.done, differs: EXIT.found, unknown: EXIT.failed } as const;
const EXIT_CODES = `
Exit codes:
  0    the rows are in place, or are the same as the log; nothing stays parked, or the reaction is asked to try again
  1    --verify: live rows differ from the log; --parked: something stays parked
  2    wrong arguments, or it could not be rebuilt, compared or retried; the output says why
  78   the configuration is wrong
  130  it was cancelled`;
/** The longest restart of the embedded Postgres of a running service. */
const RESTART_MS_MAX = 60_000;
const REACTION = 'reaction:';

type Opened = Readonly<{
  sql: Sql;
  store: EventStore;
  logUse: LogUse;
  /** The folder of the embedded Postgres; undefined with another one, whose disk is not known. */
  folder: string | undefined;
  start: () => Promise<void>;
  /** Closes everything that can be closed, and resolves to the failures. */
  close: () => Promise<readonly unknown[]>;
}>;
type Options = { verify?: true; parked?: true; json?: true };

const command = new Command('rebuild')
  .description('Rebuilds read models from the log, beside the live rows and while the service runs.')
  .argument('<projection>', `which: ${projections.map(({ name }) => name).join(', ')}, or all`)
  .option('--verify', 'change nothing; compare the live rows with the log and name the first that differs')
  .addOption(new Option('--parked', `only retry parked events; also for ${REACTION}<name>`).conflicts('verify'))
  .option('--json', 'one line of JSON for each projection or reaction, and no progress')
  .addHelpText('after', EXIT_CODES)
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? EXIT.done : EXIT.failed))
  .parse();
const [name] = command.processedArgs as [string];
const options = command.opts<Options>();

const wanted = name === 'all' ? projections : projections.filter((projection) => projection.name === name);
if (wanted.length === 0 && !(options.parked && name.startsWith(REACTION))) {
  command.error(`There is no projection ${name}; there are ${projections.map((projection) => projection.name).join(', ')}.`);
}

const cancel = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => (cancel.signal.aborted ? process.exit(EXIT.cancelled) : cancel.abort()));
}

const say = (line: string) => process.stdout.write(`${line}\n`);
// Node itself would end with 1. An error after the result, while the stores are closed, leaves the exit code as it is.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(process.exitCode ?? EXIT.failed);
});
void start();

async function start(): Promise<void> {
  let opened: Opened | undefined;
  try {
    opened = await open();
    await readableLog(opened);
    process.exitCode = await run(opened);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = error instanceof RebuildCancelled ? EXIT.cancelled : EXIT.failed;
  }
  const unclosed = (await opened?.close()) ?? [];
  for (const error of unclosed) process.stderr.write(`A store could not be closed: ${messageOf(error)}\n`);
  // What is still open would keep the process running.
  if (unclosed.length > 0) process.exit();
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Opens the stores of the service. An embedded Postgres that the service runs is shared; otherwise it is started. */
async function open(): Promise<Opened> {
  const config = configOrExit();
  const embedded = config.databaseUrl === undefined ? await embeddedPostgres(config.dataDir) : undefined;
  const url = config.databaseUrl ?? embedded!.url;
  const settings = { idle_in_transaction_session_timeout: 0 };
  const database = openDatabase({ url, name: 'rebuild', connections: CONNECTIONS, statementTimeoutMs: 0, settings });
  const isOwn = config.eventStore === 'postgres';
  const log = isOwn ? new PostgresEventStore({ url }) : new EventStoreDbEventStore({ connectionString: config.eventStore });
  return {
    sql: database,
    store: log,
    start: async () => {
      if (log instanceof PostgresEventStore) await log.start();
    },
    logUse: logUseOf(config),
    folder: embedded && config.dataDir,
    close: () =>
      collectFailures([() => log.close(), () => database.end({ timeout: 5 }), async () => embedded?.stop()], (end) => end(), 1),
  };
}

type Embedded = Readonly<{ url: string; stop: () => Promise<void> }>;

/** The Postgres of a running service may be restarting, and is then waited for. */
async function embeddedPostgres(dataDir: string): Promise<Embedded> {
  const until = systemTiming.elapsedMs() + RESTART_MS_MAX;
  const isRestarting = (error: unknown) => error instanceof DirectoryInUse && systemTiming.elapsedMs() < until;
  return throughOutages(systemTiming, () => ownOrShared(dataDir), tryAgain, isRestarting);
}

async function ownOrShared(dataDir: string): Promise<Embedded> {
  try {
    return await startEmbeddedPostgres({ dataDir });
  } catch (error) {
    const url = error instanceof DirectoryInUse ? runningPostgres(dataDir) : undefined;
    if (url === undefined) throw error;
    return { url, stop: async () => undefined };
  }
}

/** Starts the store of the log, and ensures that this program can read the log. */
async function readableLog({ store, logUse, start }: Opened): Promise<void> {
  for (const step of [start, () => requireReadable(store, logUse)])
    await throughOutages(systemTiming, step, tryAgain, outagesUpTo(OUTAGES_IN_A_ROW_MAX));
}

function tryAgain(error: unknown): void {
  if (cancel.signal.aborted) throw new RebuildCancelled('The rebuild was cancelled; nothing was changed.');
  process.stderr.write(`${(error as Error).message} Trying again.\n`);
}

/** Returns the exit code. */
async function run(opened: Opened): Promise<number> {
  if (options.parked) {
    const left = name.startsWith(REACTION) ? await retryReaction(opened, name.slice(REACTION.length)) : await retryAll(opened);
    return left > 0 ? EXIT.found : EXIT.done;
  }
  let code: number = EXIT.done;
  for (const projection of wanted) {
    const outcome = await rebuilt(opened, projection);
    if (options.json) say(outcomeJson(outcome));
    else for (const line of outcomeLines(outcome)) say(line);
    if (options.verify) code = Math.max(code, EXIT_OF_VERDICT[verdictOf(outcome)]);
  }
  if (name === 'all' && !options.verify) await takeBack(opened);
  return code;
}

/** After the log was restored from an older backup, lets the reactions repeat the end of it. */
async function takeBack({ sql, store }: Opened): Promise<void> {
  const taken = await takeBackReactions(sql, store);
  if (taken.length > 0 && !options.json)
    say(`Taken back, to repeat the last minutes of the log: ${taken.map((each) => REACTION + each).join(', ')}.`);
}

/** Rebuilds a projection, and continues after outages as after a kill. */
async function rebuilt({ sql, store, folder }: Opened, projection: Projection) {
  const style = options.json ? 'silent' : process.stdout.isTTY ? 'bar' : 'lines';
  for (let outages = 1; ; outages++) {
    const display = new RebuildDisplay(style, projection.name, systemTiming);
    try {
      return await Rebuild.run(sql, store, projection, {
        verifyOnly: options.verify === true,
        timing: systemTiming,
        signal: cancel.signal,
        onProgress: (progress) => {
          display.show(progress);
          if (folder !== undefined && progress.phase === 'rebuilding') requireSpaceLeft(folder);
        },
      });
    } catch (error) {
      // A full disk is not waited for, because the rows of the rebuild may be what fills it.
      if (!isOutage(error) || isDiskFull(error) || outages === OUTAGES_IN_A_ROW_MAX || cancel.signal.aborted) throw error;
      display.end();
      process.stderr.write(`${(error as Error).message} Trying again.\n`);
      await systemTiming.pause(backOffMs(outages, systemTiming), cancel.signal);
    } finally {
      display.end();
    }
  }
}

/** Retries parked entities, and returns the number that stay parked. */
async function retryAll({ sql, store }: Opened): Promise<number> {
  let left = 0;
  for (const projection of wanted) {
    if (cancel.signal.aborted) throw new RebuildCancelled('Cancelled. The other projections were not retried.');
    const { released, parked } = await retryParked(sql, store, await definitionOf(projection));
    if (options.json) say(JSON.stringify({ projection: projection.name, released, parked }));
    else {
      say(`${projection.name}: ${released.length} released, ${parked.length} still parked.`);
      for (const { entity, held, error } of parked) say(`  ${entity}, ${held} events held: ${error}`);
    }
    left += parked.length;
  }
  return left;
}

async function retryReaction({ sql }: Opened, reaction: string): Promise<number> {
  const asked = await askToRetry(sql, reaction);
  if (options.json) say(JSON.stringify({ reaction, asked }));
  else say(`${reaction}: ${asked} parked events will be tried again by the process that runs it.`);
  return 0;
}
