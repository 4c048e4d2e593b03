import { type Detector, type Match, matchesOf } from './detector.js';

type UrlSettings = Readonly<{ allow_hosts: readonly string[]; block_hosts: readonly string[] }>;

/**
 * URLs with a scheme and the short forms that browsers complete (`//host`, `www.`), up to a character that cannot belong to a
 * URL.
 */
const ADDRESSES =
  /(?:(?<![A-Za-z0-9])(?:https?|ftp|wss?):[\\/]*|(?<=[\s("'<[])[\\/]{2}|(?<![\p{L}\p{N}.-])www\.)[^\s<>"'`{}|^)\]]+/giu;
/** Host names without a scheme. */
const BARE_HOSTS = /(?<![\p{L}\p{N}.@-])[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,252}[\p{L}\p{N}])?/gu;
const AUTHORITY_MAX = 512;
/** A URL whose host may be incomplete, because it reaches the end of the text. */
const PENDING = /(?:(?:https?|ftp|wss?):[\\/]*|[\\/]{2}|www\.)[^\s<>"'`{}|^)\]\\/?#]*$/iu;
const SCHEME_MAX = 10;

/**
 * Finds URLs of blocked hosts, and of hosts that are not allowed if there is a list of allowed ones. A listed host includes its
 * subdomains.
 */
export function urls({ allow_hosts: allowed, block_hosts: blocked }: UrlSettings): Detector {
  const [isAllowed, isBlocked] = [hostsOf(allowed), hostsOf(blocked)];
  const isRefused = (host: string | undefined) =>
    host === undefined ? true : isBlocked(host) || (allowed.length > 0 && !isAllowed(host));
  return {
    window: blocked.length > 0 ? 256 : 16,
    ignoresCase: false,
    maskOf: () => '<url redacted>',
    find: (text) => {
      const found: Match[] = [];
      for (const { 0: address, index: start } of text.matchAll(ADDRESSES)) {
        const host = hostIn(address);
        const category = host !== undefined && isBlocked(host) ? 'BLOCKED_HOST' : 'HOST_NOT_ALLOWED';
        if (isRefused(host)) found.push({ start, end: start + address.length, category });
      }
      return blocked.length === 0 ? found : [...found, ...outside(found, bareHosts(text, isBlocked))];
    },
    pendingFrom: (text) => {
      const from = Math.max(0, text.length - AUTHORITY_MAX - SCHEME_MAX);
      const pending = PENDING.exec(text.slice(from));
      return pending ? from + pending.index : undefined;
    },
  };
}

const bareHosts = (text: string, isBlocked: (host: string) => boolean): readonly Match[] =>
  matchesOf(text, BARE_HOSTS, 'BLOCKED_HOST').filter(({ start, end }) => {
    const name = text.slice(start, end);
    return name.includes('.') && isBlocked(name);
  });

/** The matches that do not begin inside one of the others. Both lists are sorted. */
function outside(others: readonly Match[], matches: readonly Match[]): readonly Match[] {
  let at = 0;
  return matches.filter(({ start }) => {
    while (at < others.length && others[at]!.end <= start) at++;
    return at === others.length || start < others[at]!.start;
  });
}

/** Returns a test whether a host is one of the given hosts or a subdomain of one. */
function hostsOf(hosts: readonly string[]): (host: string) => boolean {
  const known = new Set(hosts.map((host) => plainHost(host.replace(/^\*?\./, ''))));
  return (host) => {
    const labels = plainHost(host).split('.');
    return labels.some((_, at) => known.has(labels.slice(at).join('.')));
  };
}

/** A host in the form that URLs have: lower case, ASCII, without a final dot. */
function plainHost(host: string): string {
  const url = `http://${host}/`;
  const plain = URL.canParse(url) ? new URL(url).hostname : host.toLowerCase();
  return plain.endsWith('.') ? plain.slice(0, -1) : plain;
}

/** The host of an address as browsers parse it; undefined if it is not a valid URL. */
function hostIn(address: string): string | undefined {
  const authority = address.slice(0, AUTHORITY_MAX + SCHEME_MAX);
  const url = /^www\./i.test(authority) ? `http://${authority}` : /^[\\/]/.test(authority) ? `http:${authority}` : authority;
  if (!URL.canParse(url)) return undefined;
  return new URL(url).hostname || undefined;
}
