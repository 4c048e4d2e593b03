import { OutgoingFailed } from './outgoing-http.port.js';

/** Headers that the HTTP client sets. Set by a caller, they could split a request or change its host. */
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

/** The headers to send, by lower-case name, without those of the connection. @throws OutgoingFailed for invalid ones */
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
