/** No frame of an answer is longer; a stream without line ends is not read into memory for ever. */
const FRAME_CHARACTERS_MAX = 4 * 1024 * 1024;

export class FrameTooLong extends Error {
  override readonly name = 'FrameTooLong';
}

/** Takes the bytes of an event stream as they come and gives back the data of the events that are whole. */
export class EventStreamReader {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private data: string[] = [];

  read(bytes: Uint8Array): readonly string[] {
    return this.take(this.decoder.decode(bytes, { stream: true }));
  }

  /** What the end leaves over: some endpoints close without the empty line. */
  end(): readonly string[] {
    return this.take(`${this.decoder.decode()}\n\n`);
  }

  private take(text: string): readonly string[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!;
    if (this.rest.length > FRAME_CHARACTERS_MAX)
      throw new FrameTooLong(`An event is longer than ${FRAME_CHARACTERS_MAX} characters.`);
    const events: string[] = [];
    for (const ended of lines) {
      const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
      if (line.startsWith('data:')) this.data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      else if (line === '' && this.data.length > 0) {
        events.push(this.data.join('\n'));
        this.data = [];
      }
    }
    return events;
  }
}
