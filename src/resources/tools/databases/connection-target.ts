import { ForeignDatabaseFailed } from './foreign-database.port.js';

/** The modes of libpq's `sslmode`, reduced to these; `verified` also checks the certificate. */
export type Encryption = 'none' | 'preferred' | 'required' | 'verified';

/** The host, user and database that a connection string names. */
export type ConnectionTarget = Readonly<{
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  encryption: Encryption;
}>;

const CONNECTION_STRING_CHARACTERS_MAX = 2048;

const PORT_DEFAULT = 5432;

/** A driver name after the scheme, as SQLAlchemy has it, is ignored. */
const SCHEME = /^postgres(ql)?(\+\w+)?:\/\//i;

/** Parameters that would override the host, the user or the database. */
const MISLEADING = ['host', 'hostaddr', 'port', 'user', 'password', 'dbname', 'service', 'passfile', 'replication'];

const ENCRYPTIONS: Readonly<Record<string, Encryption>> = {
  disable: 'none',
  allow: 'preferred',
  prefer: 'preferred',
  require: 'required',
  'verify-ca': 'verified',
  'verify-full': 'verified',
};

const FORM = 'postgresql://user:password@host:5432/database';

/**
 * Reads a connection string that names one host, one user and one database. Other parameters are ignored. @throws
 * ForeignDatabaseFailed
 */
export function connectionTarget(connectionString: string): ConnectionTarget {
  const text = connectionString.trim();
  if (text.length > CONNECTION_STRING_CHARACTERS_MAX || !SCHEME.test(text) || !URL.canParse(text.replace(SCHEME, 'http://'))) {
    throw refused(`must have the form ${FORM}`);
  }
  // With the scheme http, the URL parser normalizes the host: every spelling of an IP address becomes that address.
  const url = new URL(text.replace(SCHEME, 'http://'));
  const misleading = MISLEADING.find((name) => url.searchParams.has(name));
  if (misleading !== undefined) throw refused(`must not have the parameter "${misleading}"`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded) as [string, string, string];
  if (user === '') throw refused(`must name a user, as in ${FORM}`);
  if (host.includes(',')) throw refused('must name one host');
  if ([user, password, database].some((part) => part.includes('\u0000'))) throw refused('must not hold NUL characters');
  const encryption = ENCRYPTIONS[url.searchParams.get('sslmode') ?? 'prefer'];
  if (encryption === undefined) throw refused(`allows as sslmode only ${Object.keys(ENCRYPTIONS).join(', ')}`);
  return { host, port: portOf(text, url), user, password, database: database || user, encryption };
}

/** A URL with the scheme http drops the port 80, because it is the default. */
function portOf(text: string, url: URL): number {
  if (url.port !== '') return Number(url.port);
  return /^[^/?#]*:80(?:[/?#]|$)/.test(text.replace(SCHEME, '').replace(/^[^/?#]*@/, '')) ? 80 : PORT_DEFAULT;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refused('holds a percent sign that is not part of a valid escape: write it as %25');
  }
}

const refused = (text: string) => new ForeignDatabaseFailed(`The connection string ${text}.`);
