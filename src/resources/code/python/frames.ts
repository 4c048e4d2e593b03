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

/**
 * Assembles frames from chunks of bytes. Each chunk is copied when it arrives, because copying a large frame at once would hold up
 * the process.
 */
export class FrameReader {
  /** The sizes of the next frame or the frame itself, as far as it has arrived. */
  private part = Buffer.alloc(SIZES_BYTES);
  private filled = 0;
  /** Undefined while the sizes arrive. */
  private headSize: number | undefined;

  constructor(private readonly bodyBytesMax: number) {}

  /** Yields the frames that this chunk completes. @throws FrameRefused */
  *push(piece: Buffer): Generator<Frame> {
    for (let from = 0; ;) {
      const copied = piece.copy(this.part, this.filled, from);
      from += copied;
      this.filled += copied;
      if (this.filled < this.part.length) return;
      const { part, headSize } = this;
      this.filled = 0;
      if (headSize === undefined) {
        const sizes = this.sizesIn(part);
        this.headSize = sizes.head;
        // Not from Node's pool, which a kept body would keep alive.
        this.part = Buffer.allocUnsafeSlow(sizes.head + sizes.body);
      } else {
        this.headSize = undefined;
        this.part = Buffer.alloc(SIZES_BYTES);
        yield { head: headOf(part.subarray(0, headSize)), body: part.subarray(headSize) };
      }
    }
  }

  private sizesIn(bytes: Buffer): Readonly<{ head: number; body: number }> {
    const sizes = { head: bytes.readUInt32BE(0), body: bytes.readUInt32BE(4) };
    if (sizes.head > HEAD_BYTES_MAX || sizes.body > this.bodyBytesMax) throw new FrameRefused('A frame is too large.');
    return sizes;
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
