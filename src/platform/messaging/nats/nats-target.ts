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
  const texts = url.split(',').map((each) => (each.includes('://') ? each.trim() : `nats://${each.trim()}`));
  const urls = texts.map((each) => (URL.canParse(each) ? new URL(each) : undefined));
  if (!urls.every((each) => each !== undefined && PROTOCOLS.includes(each.protocol) && each.hostname !== '')) {
    throw new Error('must look like nats://user:password@host:4222, or several of these separated by commas.');
  }
  const known = urls.filter((each) => each !== undefined);
  const { username, password } = known.find((each) => each.username !== '') ?? { username: '', password: '' };
  return {
    servers: known.map(({ hostname, port }) => `${hostname}:${port || PORT_DEFAULT}`),
    tls: known.some(({ protocol }) => protocol === 'tls:'),
    credentials: password
      ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
      : username
        ? { token: decodeURIComponent(username) }
        : {},
  };
}

/** @throws Error for a prefix that cannot be a part of every name on the server */
export function checkNatsPrefix(prefix: string): void {
  if (!/^[\w-]+$/.test(prefix)) throw new Error('must have letters, digits, - and _ only.');
}
