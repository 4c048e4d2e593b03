import { OutgoingFailed } from './outgoing-http.port.js';

/** What the connection says itself; said by a caller, these could make one request look like two, or another host's. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that can be sent as they are, by lower-case name; those of the connection are left out. @throws OutgoingFailed */
export function sendableHeaders(given: Iterable<readonly [string, string]>): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [written, value] of given) {
    const name = written.toLowerCase();
    if (!NAME.test(name)) throw new OutgoingFailed('A header has a name that cannot be sent.');
    if (!VALUE.test(value)) throw new OutgoingFailed(`The header ${name} has a value that cannot be sent.`);
    if (!OF_THE_CONNECTION.has(name)) headers[name] = value;
  }
  return headers;
}
