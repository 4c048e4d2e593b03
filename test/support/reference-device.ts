import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/** A command as a device receives it. */
export type Envelope = Readonly<{
  invocation_id: string;
  action: string;
  params: Readonly<{ command: string; working_directory: string; timeout_ms: number }>;
  approval_mode: string;
  issued_at: string;
  deadline: string;
  command_sha256: string;
}>;

export type SessionEvent = Readonly<{ name: string; id: string; data: Record<string, unknown> }>;

export type Line = Readonly<Record<string, unknown>>;

export const out = (chunk: string): Line => ({ stream: 'stdout', chunk });
export const err = (chunk: string): Line => ({ stream: 'stderr', chunk });
export const over = (exitCode: number, error: string | null = null): Line => ({
  stream: 'control',
  exit_code: exitCode,
  duration_ms: 7,
  error,
});

/** How a device handles one command: it acknowledges or refuses it, and sends lines. */
export type Handling = (envelope: Envelope, session: Session) => Promise<void>;

/** The key pair of a machine, with its public key's fingerprint. */
export class Machine {
  readonly publicKey: string;
  readonly fingerprint: string;
  private readonly privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    this.privateKey = privateKey;
    this.publicKey = raw.toString('base64');
    this.fingerprint = createHash('sha256').update(raw).digest('hex');
  }

  headers(method: string, path: string, body: string | Buffer, at = Date.now()): Record<string, string> {
    const timestamp = String(Math.floor(at / 1000));
    const text = [method, path, timestamp, createHash('sha256').update(body).digest('hex')].join(' ');
    return {
      'x-device-signature': sign(null, Buffer.from(text), this.privateKey).toString('base64'),
      'x-device-timestamp': timestamp,
      'x-device-machine-key': this.fingerprint,
      'x-device-machine-pubkey': this.publicKey,
    };
  }
}

const POLL_EVERY_MS = 20;

/** A device that implements the documented protocol. It records what it ran and behaves as a test specifies. */
export class ReferenceDevice {
  /** The commands that it ran, with repetitions. */
  readonly ran: string[] = [];

  constructor(
    public url: string,
    readonly machine: Machine,
    readonly id: string,
    readonly token: string,
    readonly name: string,
  ) {}

  static redeem(url: string, userCode: string, machine = new Machine(), more: object = {}): Promise<Response> {
    const about = { hostname: 'build-1', os: 'linux', arch: 'arm64', cli_version: '1.0.0', ...more };
    return fetch(`${url}/api/devices/pairings/redeem`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user_code: userCode, machine_pubkey: machine.publicKey, ...about }),
    });
  }

  static async paired(url: string, userCode: string, machine = new Machine()): Promise<ReferenceDevice> {
    const response = await this.redeem(url, userCode, machine);
    const body = (await response.json()) as { device_id: string; session_token: string; name: string };
    if (response.status !== 200) throw new Error(`Not paired: ${response.status} ${JSON.stringify(body)}`);
    return new ReferenceDevice(url, machine, body.device_id, body.session_token, body.name);
  }

  request(method: string, path: string, body: string | Buffer = '', headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...this.machine.headers(method, path, body), ...headers },
      ...(body.length > 0 && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
  }

  poll(): Promise<Response> {
    return this.request('GET', '/api/devices/poll');
  }

  /** The next session that waits for the device. */
  async session(signal?: AbortSignal): Promise<Session> {
    for (;;) {
      signal?.throwIfAborted();
      const response = await this.poll().catch(() => undefined);
      if (response?.status === 200) {
        const { session_ticket: ticket } = (await response.json()) as { session_ticket: string };
        const opened = await this.open(ticket);
        if (opened) return opened;
      } else if (response && response.status !== 202 && response.status < 500) {
        throw new Error(`Not polled: ${response.status} ${await response.text()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
    }
  }

  async open(ticket: string): Promise<Session | undefined> {
    const response = await this.request('GET', `/api/devices/sessions/${ticket}/events`).catch(() => undefined);
    return response?.status === 200 ? new Session(this, ticket, response) : undefined;
  }

  /** Handles commands until aborted. A session that ends is followed by another one. */
  async serve(handle: Handling, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const session = await this.session(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return undefined;
      });
      if (!session) return;
      const onAbort = () => void session.close();
      signal.addEventListener('abort', onAbort, { once: true });
      for await (const { name, data } of session.events()) {
        if (name === 'invocation') await handle(data as unknown as Envelope, session).catch(() => undefined);
      }
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** One session of a device. */
export class Session {
  private readonly reader;
  private text = '';

  constructor(
    private readonly device: ReferenceDevice,
    readonly ticket: string,
    response: Response,
  ) {
    this.reader = response.body!.getReader();
  }

  /** Its events until either side ends it. */
  async *events(): AsyncGenerator<SessionEvent> {
    const decoder = new TextDecoder();
    for (;;) {
      const next = await this.reader.read().catch(() => ({ done: true as const, value: undefined }));
      if (next.done) return;
      this.text += decoder.decode(next.value as Uint8Array, { stream: true });
      for (let end = this.text.indexOf('\n\n'); end !== -1; end = this.text.indexOf('\n\n')) {
        const match = /^event: (\w+)\nid: (\d+)\ndata: (.*)$/.exec(this.text.slice(0, end));
        this.text = this.text.slice(end + 2);
        if (match) yield { name: match[1]!, id: match[2]!, data: JSON.parse(match[3]!) as Record<string, unknown> };
      }
    }
  }

  async next(): Promise<Envelope> {
    for await (const { name, data } of this.events()) if (name === 'invocation') return data as unknown as Envelope;
    throw new Error('The session ended.');
  }

  close(): Promise<void> {
    return this.reader.cancel().catch(() => undefined);
  }

  ack({ invocation_id: id }: Envelope, decision = 'accepted', reason?: string): Promise<Response> {
    const body = JSON.stringify({ decision, ...(reason !== undefined && { reason }) });
    return this.device.request('POST', `${this.path(id)}/ack`, body, { 'content-type': 'application/json' });
  }

  output({ invocation_id: id }: Envelope, lines: readonly Line[], { gzip = false } = {}): Promise<Response> {
    const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return this.send(id, gzip ? gzipSync(text) : text, gzip ? { 'content-encoding': 'gzip' } : {});
  }

  send(id: string, body: Buffer, headers: Record<string, string> = {}): Promise<Response> {
    return this.device.request('POST', `${this.path(id)}/output`, body, { 'content-type': 'application/x-ndjson', ...headers });
  }

  private path(id: string): string {
    return `/api/devices/sessions/${this.ticket}/invocations/${id}`;
  }
}

/** Runs each command once its acknowledgement was accepted, and sends the output. */
export const obeying =
  (
    device: ReferenceDevice,
    lines: (command: string) => readonly Line[] = (command) => [out(`ran ${command}`), over(0)],
  ): Handling =>
  async (envelope, session) => {
    const acknowledged = await session.ack(envelope);
    if (acknowledged.status !== 200) return;
    device.ran.push(envelope.params.command);
    await session.output(envelope, lines(envelope.params.command));
  };
