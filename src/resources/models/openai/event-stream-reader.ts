/** Maximum length of an event, so that an endpoint cannot fill the memory with a line or an event that never ends. */
export const FRAME_CHARACTERS_MAX = 4 * 1024 * 1024;

export class FrameTooLong extends Error {
  override readonly name = 'FrameTooLong';
}

/** Parses the bytes of an event stream and returns the data of each complete event. */
export class EventStreamReader {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private data: string[] = [];
  private dataCharacters = 0;

  read(bytes: Uint8Array): readonly string[] {
    return this.take(this.decoder.decode(bytes, { stream: true }));
  }

  /** The last event, if the endpoint closed the stream without the final empty line. */
  end(): readonly string[] {
    return this.take(`${this.decoder.decode()}\n\n`);
  }

  private take(text: string): readonly string[] {
    this.rest += text;
    // Text without a line break is only buffered: searching the whole buffer again for each piece would take quadratic time.
    const events = text.includes('\n') ? this.eventsOf(this.rest.split('\n')) : [];
    if (this.rest.length + this.dataCharacters > FRAME_CHARACTERS_MAX)
      throw new FrameTooLong(`An event is longer than ${FRAME_CHARACTERS_MAX} characters.`);
    return events;
  }

  private eventsOf(lines: string[]): readonly string[] {
    this.rest = lines.pop()!;
    const events: string[] = [];
    for (const ended of lines) {
      const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
      if (line.startsWith('data:')) {
        this.data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
        this.dataCharacters += line.length;
      } else if (line === '' && this.data.length > 0) {
        events.push(this.data.join('\n'));
        this.data = [];
        this.dataCharacters = 0;
      }
    }
    return events;
  }
}
