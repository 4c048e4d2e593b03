/** The address is not allowed: it is private, reserved, or not the address of a server. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** The request failed: no connection, no response in time, a too large response, or too many redirects. */
export class OutgoingFailed extends Error {
  override readonly name = 'OutgoingFailed';
}

export type OutgoingRequest = Readonly<{
  method: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Timeout in milliseconds, from the first connection to the last byte. */
  timeoutMs?: number;
  /** Maximum bytes of the response. A longer one is truncated and marked as such. */
  responseBytesMax?: number;
  signal?: AbortSignal;
}>;

export type OutgoingResponse = Readonly<{
  /** The final URL after redirects. */
  url: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  truncated: boolean;
}>;

/** HTTP requests to addresses that users or models provide. All such requests use this port. */
export abstract class OutgoingHttp {
  /** Checks an address before it is stored. @throws AddressRefused */
  abstract check(url: string): Promise<void>;
  /** Sends a request. The address is checked when connecting and at each redirect. @throws AddressRefused, OutgoingFailed */
  abstract request(url: string, request: OutgoingRequest): Promise<OutgoingResponse>;
  /** A guarded `fetch` for libraries. @throws AddressRefused as the cause of a TypeError */
  abstract readonly fetch: typeof globalThis.fetch;
}
