import { AddressRefused, OutgoingFailed } from './outgoing-http.port.js';
import { outgoingUrl } from './outgoing-url.js';

export const REDIRECTS_MAX = 5;

/** A request of a chain of redirects. */
export type Hop = Readonly<{
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array | undefined;
}>;

/** Headers that may be sent to another host. Any other header may be a credential, because services invent their own names. */
const SAFE_FOR_ANY_HOST = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-language',
  'content-type',
  'user-agent',
]);

const REDIRECTING = new Set([301, 302, 303, 307, 308]);

/** The next request of the chain; undefined if the response is final. @throws AddressRefused, OutgoingFailed */
export function nextHop(hop: Hop, status: number, location: string | undefined, redirects: number): Hop | undefined {
  if (!REDIRECTING.has(status) || location === undefined) return undefined;
  if (redirects >= REDIRECTS_MAX) throw new OutgoingFailed(`The answer redirects more than ${REDIRECTS_MAX} times.`);
  const url = outgoingUrl(location, hop.url);
  const next = { ...asMethodAllows(hop, status), url };
  return url.origin === hop.url.origin ? next : toStranger(next);
}

/** As browsers do, a redirected POST becomes a GET, unless the status requires the same method. */
function asMethodAllows(hop: Hop, status: number): Hop {
  const asksAgain = status === 303 ? hop.method === 'HEAD' || hop.method === 'GET' : status > 303 || hop.method !== 'POST';
  if (asksAgain) return hop;
  return { ...hop, method: 'GET', headers: without(hop.headers, (name) => name.startsWith('content-')), body: undefined };
}

/** The request for another host, without credentials and without a body. */
function toStranger(hop: Hop): Hop {
  if (hop.body !== undefined)
    throw new AddressRefused('The server redirects to another one, which is not sent what was meant for the first.');
  return { ...hop, headers: without(hop.headers, (name) => !SAFE_FOR_ANY_HOST.has(name)) };
}

const without = (headers: Hop['headers'], leaveOut: (name: string) => boolean): Hop['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !leaveOut(name.toLowerCase())));
