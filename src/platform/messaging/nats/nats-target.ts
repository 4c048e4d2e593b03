import { percentDecoded } from '../../percent-decoded.js';

/** The servers and the credentials in a URL of NATS. */
export type NatsTarget = Readonly<{
  servers: readonly string[];
  tls: boolean;
  credentials: Readonly<{ user?: string; pass?: string; token?: string }>;
}>;

const PORT_DEFAULT = 4222;
const PROTOCOLS = ['nats:', 'tls:'];

/**
 * Parses `nats://[user:password@|token@]host:port`, or several of these separated by commas. `tls://` encrypts the connection.
 * @throws Error whose message never quotes the URL, because it may contain a password
 */
export function natsTarget(url: string): NatsTarget {
  const urls = url.split(',').map((each) => serverIn(each.trim()));
  const { username, password } = urls.find((each) => each.username !== '') ?? { username: '', password: '' };
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port || PORT_DEFAULT}`),
    tls: urls.some(({ protocol }) => protocol === 'tls:'),
    credentials: password
      ? { user: percentDecoded(username), pass: percentDecoded(password) }
      : username
        ? { token: percentDecoded(username) }
        : {},
  };
}

function serverIn(text: string): URL {
  const url = text.includes('://') ? text : `nats://${text}`;
  const server = URL.canParse(url) ? new URL(url) : undefined;
  if (!server || !PROTOCOLS.includes(server.protocol) || server.hostname === '')
    throw new Error('must look like nats://user:password@host:4222, or several of these separated by commas.');
  return server;
}

/** @throws Error for a prefix that cannot be a part of every name on the server */
export function checkNatsPrefix(prefix: string): void {
  if (!/^[\w-]+$/.test(prefix)) throw new Error('must have letters, digits, - and _ only.');
}
