/**
 * Repairs postgres.js 3.4.9 where it stands in node_modules; `npm ci` runs this, and `npm start` once more, for those who
 * install without scripts. Unrepaired, a connection that dies
 *
 * - inside a transaction makes the driver send `rollback` into a socket that is gone: an exception nobody can catch ends
 *   the process, or the dead transaction's later statements run inside another one's;
 * - with a small write still pending never writes again after it has reconnected: whoever gets it from the pool hangs;
 * - with an error message underway fails the next, innocent query with it;
 * - while the driver asks for array types is an unhandled rejection, which ends the process too;
 *
 * and a parameter that cannot be serialised, among pipelined statements, fails its neighbour and then hangs. Every
 * replacement must match exactly once, so that another version of the driver is noticed. The last one leaves a mark by
 * which the service knows that it runs on the repaired driver.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const VERSION = '3.4.9';
const REPAIRS = 5;
const MARK = `/* repaired: repair-postgres-js.mjs, ${REPAIRS} */`;
const ANY_MARK = '/* repaired: ';

const repairs = {
  'src/connection.js': [
    // Nothing goes into a socket that is gone; `closed` has rejected, or will reject, who waits for an answer.
    [
      `  function nextWrite(fn) {
    const x = socket.write(chunk, fn)`,
      `  function nextWrite(fn) {
    if (!socket) {
      chunk = nextWriteTimer = null
      return true
    }
    const x = socket.write(chunk, fn)`,
    ],
    // A connection may be lost while the driver itself asks: whoever waits for the connection is told, and that is enough.
    [`        return fetchArrayTypes()\n`, `        return fetchArrayTypes().catch(() => {})\n`],
    // The next connection starts without the last one's unsent bytes, armed timer, pending error and half a result. Of two
    // sockets made by reconnections that crossed, the one that is let go may still fail: with nobody to hear it, that would end the process.
    [
      `    socket.removeAllListeners()
    socket = null

    if (initial)`,
      `    socket.removeAllListeners()
    socket.on('error', () => {})
    socket.destroy()
    socket = null
    chunk = nextWriteTimer = errorResponse = null

    if (initial)`,
    ],
    [
      `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    closedTime`,
      `    if (query || sent.length)
      error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = results = final = null
    result = new Result()
    rows = 0
    closedTime`,
    ],
    // A broken connection counts as lost from the first error on, before it is closed: nobody gets it again in between.
    [
      `    errored(err)
    while (sent.length)
      queryError(sent.shift(), err)`,
      `    const { onclose } = connection
    connection.onclose = null
    onclose && onclose(err)
    errored(err)
    while (sent.length)
      queryError(sent.shift(), err)`,
    ],
    // A statement enters the pipeline once it is known to be sendable; otherwise it alone fails, and the server's answer to
    // what is sent in its place is nobody's: the next statement would take it for its own.
    [
      `      q.state = backend
      query
        ? sent.push(q)
        : (query = q, query.active = true)

      build(q)
      return write(toBuffer(q))`,
      `      q.state = backend
      build(q)
      const bytes = toBuffer(q)
      query
        ? sent.push(q)
        : (query = q, query.active = true)

      return write(bytes)`,
    ],
    [
      `      sent.length === 0 && write(Sync)
      errored(error)
      return true`,
      `      if (!query) {
        query = { origin: '', resolve: noop, reject: noop }
        write(Sync)
      }
      queryError(q, error)
      return true`,
    ],
  ],
  'src/index.js': [
    // What a reserved connection is asked after it was lost is refused, and it does not go back to the pool.
    [
      `    c.reserved.release = true

    const sql = Sql(handler)
    sql.release = () => {
      c.reserved = null
      onopen(c)
    }

    return sql

    function handler(q) {
      c.queue === full`,
      `    c.reserved.release = true

    let lost
    c.onclose = error => {
      lost = error
      while (queue.length)
        queue.shift().reject(error)
    }

    const sql = Sql(handler)
    sql.release = () => {
      if (lost)
        return
      c.onclose = null
      c.reserved = null
      onopen(c)
    }

    return sql

    function handler(q) {
      if (lost)
        return q.reject(lost)
      c.queue === full`,
    ],
    // So is what a transaction is asked: also the driver's own rollback.
    [
      `    let savepoints = 0
      , connection
      , prepare = null`,
      `    let savepoints = 0
      , connection
      , lost
      , prepare = null`,
    ],
    [
      `new Promise((_, reject) => connection.onclose = reject)`,
      `new Promise((_, reject) => lost ? reject(lost) : connection.onclose = error => {
          lose(error)
          reject(error)
        })`,
    ],
    [
      `        q.catch(e => uncaughtError || (uncaughtError = e))
        c.queue === full`,
      `        q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
        c.queue === full`,
    ],
    [
      `    function onexecute(c) {
      connection = c
      move(c, reserved)`,
      `    function lose(error) {
      lost = error
      while (queries.length)
        queries.shift().reject(error)
    }

    function onexecute(c) {
      connection = c
      c.onclose = lose
      move(c, reserved)`,
    ],
    [
      `Object.assign(Postgres, {
  PostgresError,`,
      `Object.assign(Postgres, {
  repairs: ${REPAIRS},
  PostgresError,`,
    ],
  ],
};

const at = (path) => join(import.meta.dirname, '../../../node_modules/postgres', path);
const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
if (version !== VERSION) throw new Error(`These are repairs of postgres ${VERSION}, but ${version} is installed.`);

for (const [path, replacements] of Object.entries(repairs)) {
  let text = readFileSync(at(path), 'utf8');
  if (text.startsWith(MARK)) continue;
  if (text.startsWith(ANY_MARK)) throw new Error(`${path} of postgres has other repairs than these: run \`npm ci\`.`);
  for (const [before, after] of replacements) {
    if (text.split(before).length !== 2) throw new Error(`${path} of postgres ${version} does not read as expected:\n${before}`);
    text = text.replace(before, () => after);
  }
  writeFileSync(`${at(path)}.repaired`, `${MARK}\n${text}`);
  renameSync(`${at(path)}.repaired`, at(path));
}
