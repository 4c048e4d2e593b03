/** The address may not be reached from here: it is private, reserved, or no address of a server at all. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** Nothing useful came back: no connection, no answer in time, too large an answer, too many redirects. */
export class OutgoingFailed extends Error {
  override readonly name = 'OutgoingFailed';
}

export type OutgoingRequest = Readonly<{
  method: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Milliseconds from the first connection to the last byte. */
  timeoutMs?: number;
  /** A longer answer is cut off here, and says so. */
  responseBytesMax?: number;
  signal?: AbortSignal;
}>;

export type OutgoingResponse = Readonly<{
  /** Where it came from in the end. */
  url: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  truncated: boolean;
}>;

/** The only way out of this service for addresses that users or models name. */
export abstract class OutgoingHttp {
  /** Refuses an address before it is stored. @throws AddressRefused */
  abstract check(url: string): Promise<void>;
  /** Checked at connect and at each redirect. @throws AddressRefused, OutgoingFailed */
  abstract request(url: string, request: OutgoingRequest): Promise<OutgoingResponse>;
  /** The same guard for clients that bring their own HTTP. @throws AddressRefused as the cause of a TypeError */
  abstract readonly fetch: typeof globalThis.fetch;
}
