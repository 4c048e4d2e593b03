/** No event of an answer is longer: neither a line without an end nor an event without one is read into memory for ever. */
export const FRAME_CHARACTERS_MAX = 4 * 1024 * 1024;

export class FrameTooLong extends Error {
  override readonly name = 'FrameTooLong';
}

/** Takes the bytes of an event stream as they come and gives back the data of the events that are whole. */
export class EventStreamReader {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private data: string[] = [];
  private dataCharacters = 0;

  read(bytes: Uint8Array): readonly string[] {
    return this.take(this.decoder.decode(bytes, { stream: true }));
  }

  /** What the end leaves over: some endpoints close without the empty line. */
  end(): readonly string[] {
    return this.take(`${this.decoder.decode()}\n\n`);
  }

  private take(text: string): readonly string[] {
    this.rest += text;
    // Only added to while no line ends in it: to look through all of a long line again with each piece would take the square of it.
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
