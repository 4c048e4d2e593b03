import { type Agent, request as send } from 'undici';
import { withSignals } from '../../kernel/with-signals.js';
import {
  AddressRefused,
  OutgoingFailed,
  OutgoingHttp,
  type OutgoingRequest,
  type OutgoingResponse,
} from './outgoing-http.port.js';
import { AddressGuard, type Resolve, resolveByDns } from './address-guard.js';
import { CONNECT_MS_MAX, guardedAgent } from './guarded-agent.js';
import { guardedFetch } from './guarded-fetch.js';
import { outgoingFailure } from './outgoing-failures.js';
import { destinationOf, outgoingUrl } from './outgoing-url.js';
import { PrivateHosts } from './private-hosts.js';
import { type Hop, nextHop } from './redirects.js';
import { sendableHeaders } from './request-headers.js';
import { ACCEPTED_ENCODINGS, readBody } from './response-body.js';

const REQUEST_MS = 30_000;
export const RESPONSE_BYTES_MAX = 1024 * 1024;

/** Timeout for resolving an address before it is stored. */
const CHECK_MS_MAX = 5_000;

/** Maximum bytes that are read of a redirect's body, so that the connection can be reused. */
const REDIRECT_BODY_BYTES_MAX = 16 * 1024;

export type GuardedHttpOptions = Readonly<{
  /** The entries of `ALLOWED_PRIVATE_HOSTS`. */
  privateHosts?: readonly string[];
  resolve?: Resolve;
  connectMs?: number;
  checkMs?: number;
}>;

/** HTTP requests to the internet. Private addresses are refused in every notation, resolution and redirect. */
export class GuardedHttp extends OutgoingHttp {
  readonly fetch: typeof globalThis.fetch;
  private readonly guard: AddressGuard;
  private readonly agent: Agent;
  private readonly checkMs: number;

  constructor({ privateHosts = [], resolve = resolveByDns, connectMs, checkMs }: GuardedHttpOptions = {}) {
    super();
    this.guard = new AddressGuard(new PrivateHosts(privateHosts), resolve);
    this.agent = guardedAgent(this.guard, connectMs ?? CONNECT_MS_MAX);
    this.checkMs = checkMs ?? CHECK_MS_MAX;
    this.fetch = guardedFetch(this.agent);
  }

  /** Checks an address. A name that cannot be resolved now passes, because it is checked again when connecting. */
  async check(url: string): Promise<void> {
    const addresses = this.guard.addressesOf(destinationOf(outgoingUrl(url)));
    const late = AbortSignal.timeout(this.checkMs);
    const lateness = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([lateness, addresses]).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw error;
    });
  }

  request(url: string, request: OutgoingRequest): Promise<OutgoingResponse> {
    const deadline = AbortSignal.timeout(request.timeoutMs ?? REQUEST_MS);
    return withSignals([request.signal, deadline], (signal) => this.requestUntil(signal, deadline, url, request));
  }

  /** Sends the request and follows its redirects until the signal aborts. */
  private async requestUntil(
    signal: AbortSignal,
    deadline: AbortSignal,
    url: string,
    request: OutgoingRequest,
  ): Promise<OutgoingResponse> {
    const { timeoutMs = REQUEST_MS, responseBytesMax = RESPONSE_BYTES_MAX, signal: caller } = request;
    let hop = firstHop(url, request);
    for (let redirects = 0; ; redirects++) {
      try {
        const { url: here } = hop;
        const { statusCode, headers, body } = await this.send(hop, signal);
        const next = nextHop(hop, statusCode, headers['location'], redirects);
        if (next === undefined) {
          const read = await readBody(
            body,
            mayHaveBody(hop, statusCode) ? headers['content-encoding'] : undefined,
            responseBytesMax,
          );
          return { url: here.href, status: statusCode, headers: unpacked(headers), ...read };
        }
        await body.dump({ limit: REDIRECT_BODY_BYTES_MAX, signal });
        hop = next;
      } catch (error) {
        if (caller?.aborted) throw caller.reason;
        if (deadline.aborted) throw new OutgoingFailed(`${hop.url.hostname} did not answer within ${timeoutMs / 1000} seconds.`);
        throw outgoingFailure(error, hop.url.hostname);
      }
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async send({ url, method, headers, body }: Hop, signal: AbortSignal) {
    const response = await send(url, {
      dispatcher: this.agent,
      method,
      headers,
      body: body ?? null,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const each = Object.entries(response.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')] as const);
    return {
      statusCode: response.statusCode,
      headers: Object.fromEntries(each) as Readonly<Record<string, string | undefined>>,
      body: response.body,
    };
  }
}

const METHOD = /^[A-Z]{1,20}$/;
/** Methods that concern the connection and not a resource. */
const METHODS_REFUSED = new Set(['CONNECT', 'TRACE', 'TRACK']);

function firstHop(text: string, { method: given, headers, body }: OutgoingRequest): Hop {
  const method = given.toUpperCase();
  if (!METHOD.test(method) || METHODS_REFUSED.has(method)) throw new OutgoingFailed('This method cannot be sent.');
  const sendable = sendableHeaders(Object.entries(headers ?? {}));
  return {
    url: outgoingUrl(text),
    method,
    headers: { 'user-agent': 'verbatim', accept: '*/*', ...sendable, 'accept-encoding': ACCEPTED_ENCODINGS },
    body,
  };
}

const mayHaveBody = ({ method }: Hop, status: number) => method !== 'HEAD' && status !== 204 && status !== 304;

/** The headers without those of the encoding, because the body is returned decoded. */
function unpacked(headers: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const { 'content-encoding': _encoding, 'content-length': _length, ...others } = headers;
  return others as Record<string, string>;
}
