/** A message from or to an interpreter: a small JSON object and bytes. */
export type Frame = Readonly<{ head: Readonly<Record<string, unknown>>; body: Buffer }>;

/** Two 32-bit sizes: of the head, which is JSON, and of the body. */
const SIZES_BYTES = 8;
const HEAD_BYTES_MAX = 64 * 1024;

/** The bytes are not a valid frame, or the frame is too large. */
export class FrameRefused extends Error {
  override readonly name = 'FrameRefused';
}

export function frameOf(head: Frame['head'], body: Uint8Array = new Uint8Array()): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(head));
  const sizes = Buffer.alloc(SIZES_BYTES);
  sizes.writeUInt32BE(text.byteLength, 0);
  sizes.writeUInt32BE(body.byteLength, 4);
  return [sizes, text, body];
}

/** Assembles frames from chunks of bytes. */
export class FrameReader {
  private pieces: Buffer[] = [];
  private length = 0;
  private sizes: Readonly<{ head: number; body: number }> | undefined;

  constructor(private readonly bodyBytesMax: number) {}

  /** Yields the frames that this chunk completes. @throws FrameRefused */
  *push(piece: Buffer): Generator<Frame> {
    this.pieces.push(piece);
    this.length += piece.byteLength;
    for (let frame = this.next(); frame; frame = this.next()) yield frame;
  }

  private next(): Frame | undefined {
    const sizes = (this.sizes ??= this.nextSizes());
    const bytes = sizes && this.take(sizes.head + sizes.body);
    if (!bytes) return undefined;
    this.sizes = undefined;
    return { head: headOf(bytes.subarray(0, sizes.head)), body: bytes.subarray(sizes.head) };
  }

  private nextSizes() {
    const bytes = this.take(SIZES_BYTES);
    if (!bytes) return undefined;
    const sizes = { head: bytes.readUInt32BE(0), body: bytes.readUInt32BE(4) };
    if (sizes.head > HEAD_BYTES_MAX || sizes.body > this.bodyBytesMax) throw new FrameRefused('A frame is too large.');
    return sizes;
  }

  private take(length: number): Buffer | undefined {
    if (this.length < length) return undefined;
    const all = this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces);
    this.pieces = [all.subarray(length)];
    this.length -= length;
    return all.subarray(0, length);
  }
}

function headOf(bytes: Buffer): Frame['head'] {
  try {
    const head: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof head === 'object' && head !== null) return head as Frame['head'];
  } catch {
    // Invalid JSON is refused like JSON that is not an object.
  }
  throw new FrameRefused('A frame has no head.');
}
