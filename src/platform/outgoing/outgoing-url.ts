import { AddressRefused } from './outgoing-http.port.js';
import type { Destination } from './private-hosts.js';

const URL_CHARACTERS_MAX = 8192;

/**
 * Parses a URL for an outgoing request. It is parsed once, and the connection uses the parsed form, in which all notations of
 * 127.0.0.1 are equal. @throws AddressRefused
 */
export function outgoingUrl(text: string, base?: URL): URL {
  if (text.length > URL_CHARACTERS_MAX) throw new AddressRefused(`A URL may have ${URL_CHARACTERS_MAX} characters at most.`);
  if (!URL.canParse(text, base?.href)) throw new AddressRefused('This is not a URL.');
  const url = new URL(text, base?.href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new AddressRefused('Only http and https are allowed.');
  if (url.username !== '' || url.password !== '') throw new AddressRefused('A URL must not hold a user name or a password.');
  if (url.hostname === '') throw new AddressRefused('The URL names no host.');
  return url;
}

export const destinationOf = (url: URL): Destination => ({
  host: url.hostname.replace(/^\[|\]$/g, ''),
  port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
});
