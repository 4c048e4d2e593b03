export const SQL_CHARACTERS_MAX = 50_000;

/** Statements that read and do not change the connection. Whether a statement really only reads, the server checks. */
const READING = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE', 'SHOW', 'EXPLAIN']);

/**
 * Statements that control the transaction or the connection, which belong to this service, or that switch to the COPY protocol.
 */
const NEVER = new Set(['ABORT', 'BEGIN', 'COMMIT', 'COPY', 'END', 'PREPARE', 'RELEASE', 'ROLLBACK', 'SAVEPOINT', 'START']);

/** The reason why a statement is not sent to the server, in words for the model; undefined if it may be sent. */
export function statementRefusal(statement: string, mayWrite: boolean): string | undefined {
  if (statement.length > SQL_CHARACTERS_MAX) return `A statement has ${SQL_CHARACTERS_MAX} characters at most.`;
  if (statement.includes('\u0000')) return 'A statement cannot hold a NUL character.';
  const keyword = firstKeyword(statement);
  if (keyword === undefined) return 'There is no SQL statement in it.';
  if (NEVER.has(keyword)) return `${keyword} cannot be used here: each statement runs in a transaction of its own.`;
  if (!mayWrite && !READING.has(keyword)) {
    return `${keyword} is refused: this tool only reads. Its owner can allow writes in its settings.`;
  }
  return undefined;
}

/** The first keyword of a statement, after comments and opening parentheses. */
function firstKeyword(statement: string): string | undefined {
  let at = 0;
  for (;;) {
    const rest = /[^\s(;]/g;
    rest.lastIndex = at;
    at = rest.exec(statement)?.index ?? statement.length;
    if (statement.startsWith('--', at)) at = endOf(statement, '\n', at);
    else if (statement.startsWith('/*', at)) at = endOfComment(statement, at);
    else return /^[A-Za-z_]+/.exec(statement.slice(at, at + 100))?.[0].toUpperCase();
  }
}

function endOf(statement: string, mark: string, from: number): number {
  const at = statement.indexOf(mark, from);
  return at < 0 ? statement.length : at + mark.length;
}

/** Postgres nests block comments. */
function endOfComment(statement: string, start: number): number {
  let depth = 0;
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  for (let mark; (mark = marks.exec(statement));) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return statement.length;
}
