import type { FormPart, PageCall, PageReply } from '../../support/page-call.js';

/**
 * Requests like those of the incumbent's web client: with a bearer if there is one, and a JSON content type even without a body.
 */
export class Api {
  constructor(
    readonly base: string,
    public token: string | null = null,
  ) {}

  get(path: string): Promise<Response> {
    return fetch(this.base + path, { method: 'GET', headers: this.headers() });
  }

  post(path: string, body: unknown, more: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.base + path, { method: 'POST', headers: this.headers(more), body: JSON.stringify(body) });
  }

  patch(path: string, body: unknown): Promise<Response> {
    return fetch(this.base + path, { method: 'PATCH', headers: this.headers(), body: JSON.stringify(body) });
  }

  async call({ method, path, body, form }: PageCall): Promise<PageReply> {
    const sent = form ? formOf(form) : body === undefined ? null : JSON.stringify(body);
    const headers = form ? this.bearer : this.headers();
    const response = await fetch(this.base + path, { method, headers, body: sent });
    return {
      status: response.status,
      disposition: response.headers.get('content-disposition'),
      text: await response.text(),
    };
  }

  async json<T>(path: string): Promise<T> {
    return (await this.get(path)).json() as Promise<T>;
  }

  /**
   * Continues a stream from a cursor. The cursor is in the query, because a custom header would need permission from the server.
   */
  events(path: string, lastEventId: string | null): Promise<Response> {
    const url = new URL(this.base + path);
    if (lastEventId !== null) url.searchParams.set('last_event_id', lastEventId);
    const headers = { Accept: 'text/event-stream', ...this.bearer };
    return fetch(url, { method: 'GET', headers, cache: 'no-store' });
  }

  /** Sends a form with XMLHttpRequest, which reports the upload's progress. */
  send(path: string, form: FormData, key: string, progressed: (percent: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.upload.addEventListener('progress', ({ lengthComputable, loaded, total }) => {
        if (lengthComputable) progressed((loaded / total) * 100);
      });
      request.onload = () => {
        if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
        else reject(new Error(request.responseText || request.statusText));
      };
      request.onerror = () => reject(new Error('The upload did not arrive.'));
      request.open('POST', this.base + path);
      request.setRequestHeader('Authorization', `Bearer ${this.token}`);
      request.setRequestHeader('Idempotency-Key', key);
      request.send(form);
    });
  }

  private get bearer(): Record<string, string> {
    return this.token ? { Authorization: `Bearer ${this.token}` } : {};
  }

  private headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { ...this.bearer, ...more, 'Content-Type': 'application/json' };
  }
}

function formOf(parts: Readonly<Record<string, FormPart>>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') form.append(name, part);
    else form.append(name, new File([bytesOf(part.base64)], part.filename, { type: part.type }));
  }
  return form;
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
