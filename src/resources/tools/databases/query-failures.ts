import type { ConnectionTarget } from './connection-target.js';
import type { QueryLimits } from './query-limits.js';
import type { QueryFailure } from './query-program.js';
import { cutText } from '../../../kernel/cut-text.js';

export const OUTCOME_UNKNOWN = 'It is unknown whether the statement has changed anything.';

const TEXT_CHARACTERS_MAX = 1_000;
const SECRET_CHARACTERS_MIN = 3;

/** SQLSTATE codes of Postgres: the server cancelled a statement; a read-only transaction was to write. */
const STATEMENT_STOPPED = '57014';
const READ_ONLY = '25006';

/** Class 28: the user or the password is wrong. */
const NOT_LET_IN = /^28/;

type Asked = Readonly<{ target: ConnectionTarget; mayWrite: boolean; limits: QueryLimits }>;

/**
 * The reason of a failure, in words for a model. Errors of the server while connecting are about the connection string, so their
 * text is not shown. Later errors are shown, without the password in case the server repeats it.
 */
export function failureText({ stage, code, text, tooMuch, crashed }: QueryFailure, { target, mayWrite, limits }: Asked): string {
  const unknown = mayWrite ? ` ${OUTCOME_UNKNOWN}` : '';
  if (tooMuch) return `The database sends more than ${limits.receivedBytesMax} bytes: ask for less.${unknown}`;
  if (crashed) return `The answer of the database cannot be read. If it is large, ask for less.${unknown}`;
  if (stage === 'connecting') {
    if (code !== undefined && NOT_LET_IN.test(code)) return 'The database does not accept the user or the password.';
    return code === undefined ? 'The database cannot be reached.' : `The database refused the connection (${code}).`;
  }
  if (code === undefined || text === undefined) return `The connection to the database was lost.${unknown}`;
  if (code === STATEMENT_STOPPED) return `The statement was stopped after ${limits.statementMs / 1000} seconds: ask for less.`;
  const said = cutText(withoutSecret(text, target.password), TEXT_CHARACTERS_MAX);
  if (code === READ_ONLY && !mayWrite) return `${said}. This tool only reads. Its owner can allow writes in its settings.`;
  return `The database refuses the statement: ${said} (${code})`;
}

const withoutSecret = (text: string, secret: string): string =>
  secret.length < SECRET_CHARACTERS_MIN ? text : text.replaceAll(secret, '***');
