const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

/** Iterates over the fields of a protobuf message in place. A field that is not read is skipped. */
export class MessageFields {
  /** The number of the current field. */
  number = 0;
  private type = 0;
  private unread = false;

  constructor(
    private readonly bytes: Buffer,
    private at = 0,
    private readonly end = bytes.length,
  ) {}

  /** Moves to the next field. False at the end of the message. */
  next(): boolean {
    if (this.unread) this.skip();
    if (this.at >= this.end) return false;
    const tag = Number(this.varint());
    this.number = tag >>> 3;
    this.type = tag & 7;
    this.unread = true;
    return true;
  }

  bigint(): bigint {
    this.unread = false;
    return BigInt(this.varint());
  }

  integer(): number {
    this.unread = false;
    return Number(this.varint());
  }

  text(): string {
    const start = this.start();
    return this.bytes.toString('utf8', start, this.at);
  }

  message(): MessageFields {
    const start = this.start();
    return new MessageFields(this.bytes, start, this.at);
  }

  /** The offset of the content of a length-delimited field. The content ends at the next field. */
  private start(): number {
    this.unread = false;
    const length = Number(this.varint());
    const start = this.at;
    this.at += length;
    if (this.at > this.end) throw new RangeError('A message ends in the middle of a field.');
    return start;
  }

  /** A varint: seven bits per byte, lowest first. Values of up to 49 bits are returned as numbers. */
  private varint(): bigint | number {
    let sum = 0;
    for (let scale = 1; scale < 2 ** 49; scale *= 128) {
      const byte = this.byte();
      sum += (byte & 127) * scale;
      if (byte < 128) return sum;
    }
    let rest = BigInt(sum);
    for (let shift = 49n; ; shift += 7n) {
      const byte = this.byte();
      rest |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, rest);
    }
  }

  private byte(): number {
    if (this.at >= this.end) throw new RangeError('A message ends in the middle of a number.');
    return this.bytes[this.at++]!;
  }

  private skip(): void {
    if (this.type === BYTES) this.start();
    else if (this.type === VARINT) this.varint();
    else if (this.type === FIXED_64) this.at += 8;
    else if (this.type === FIXED_32) this.at += 4;
    else throw new RangeError(`A message has a field of the unknown type ${this.type}.`);
    this.unread = false;
  }
}
