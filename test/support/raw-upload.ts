import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export const BOUNDARY = 'b';

/** The head of a file part in a form. Its bytes follow. */
export const fileHead = (name = 'file', filename = 'a.txt'): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n`;

export const formField = (name: string, value: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

export const FORM_END = `\r\n--${BOUNDARY}--\r\n`;

export type RawUpload = Readonly<{
  method?: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  /** The beginning of the form. */
  begin?: string;
  /** The number of file bytes that follow, as far as the server reads them. */
  fileBytes: number;
  end?: string;
  /** Whether it continues to send after the response, until the server closes the connection. */
  isPersistent?: boolean;
}>;

export type TakenUpload = Readonly<{ status: number; text: string; taken: number }>;

const PIECE = Buffer.alloc(64 * 1024, 'x');

/** Sends a form in chunks until the server responds. `taken` is the number of bytes that the server read from the connection. */
export async function sendRaw(server: Server, upload: RawUpload): Promise<TakenUpload> {
  const { method = 'POST', path, headers = {}, begin = '', fileBytes, end = '', isPersistent = false } = upload;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer] = await accepted;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const length = Buffer.byteLength(begin) + fileBytes + Buffer.byteLength(end);
  const all = { host: 'x', 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-length': length, ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    received += bytes.toString();
    if (!isPersistent && received.endsWith('}')) socket.destroy();
  });
  let left = fileBytes;
  const send = (failure?: Error | null): void => {
    if (failure || socket.destroyed) return;
    const piece = PIECE.subarray(0, left);
    left -= piece.length;
    if (piece.length > 0) socket.write(piece, send);
    else socket.write(end);
  };
  socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${begin}`, send);
  await closed;
  const [, status = '0'] = /^HTTP\/1\.1 (\d+)/.exec(received) ?? [];
  return { status: Number(status), text: received, taken: peer.bytesRead };
}
