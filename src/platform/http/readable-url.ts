import { isUtf8 } from 'node:buffer';
import { Rejection } from '../../kernel/rejection.js';

const ESCAPES = /(?:%[0-9a-f]{2})+/gi;
const NUL = /%00/;

/** Whether the percent-encoded bytes of a text are valid UTF-8. A lone percent sign is ignored. */
export const escapesUtf8 = (text: string): boolean =>
  (text.match(ESCAPES) ?? []).every((escaped) => isUtf8(Buffer.from(escaped.replaceAll('%', ''), 'hex')));

/**
 * Refuses a path or a query that is not UTF-8 or contains NUL, because no stored name can match it.
 * @param isOnlyData whether the query is only stored as data, so that it may contain NUL @throws Rejection invalid-request
 */
export function refuseUnreadableUrl(url: string, isOnlyData: boolean): void {
  if (!url.includes('%')) return;
  if (!escapesUtf8(url)) throw new Rejection('invalid-request', 'The address of the request is not valid UTF-8.');
  if (NUL.test(isOnlyData ? url.split('?', 1)[0]! : url))
    throw new Rejection('invalid-request', 'The address of the request holds a character that is not allowed: NUL.');
}

/** Refuses a host that cannot be part of a URL. Without a host, clients of HTTP/1.0 are served. @throws Rejection invalid-request */
export function refuseUnreadableHost(host: string | undefined): void {
  if (!host || (!/[/?#@\\]/.test(host) && URL.canParse(`http://${host}`))) return;
  throw new Rejection('invalid-request', 'The host of the request is not valid.');
}
