import { OutgoingHttp, type OutgoingResponse } from '../../src/platform/outgoing/outgoing-http.port.js';

/** Outgoing HTTP without the guard, for servers of tests on this machine. */
export class PlainOutgoingHttp extends OutgoingHttp {
  readonly fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init);

  check(): Promise<void> {
    return Promise.resolve();
  }

  async request(
    url: string,
    { method, headers, body, signal }: Parameters<OutgoingHttp['request']>[1],
  ): Promise<OutgoingResponse> {
    const response = await this.fetch(url, {
      method,
      ...(headers && { headers }),
      ...(body !== undefined && { body: body as string }),
      ...(signal && { signal }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { url, status: response.status, headers: Object.fromEntries(response.headers), body: bytes, truncated: false };
  }
}
