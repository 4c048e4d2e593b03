/** A record of a stream. `id` is undefined if it has none, `data` if it is a comment or only an id. */
type StreamRecord = Readonly<{ id: string | undefined; data: string | undefined }>;

/** Reads records until the stream ends or the reader has enough. Any line ends are accepted, and data may have several lines. */
export async function drain(
  body: ReadableStream<Uint8Array>,
  take: (record: StreamRecord) => void,
  hasEnough: () => boolean = () => false,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = '';
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    buffer = (buffer + decoder.decode(next.value, { stream: true })).replace(/\r\n?/g, '\n');
    for (let end; (end = buffer.indexOf('\n\n')) >= 0;) {
      const record = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      take(recordOf(record));
      if (hasEnough()) return reader.cancel();
    }
  }
}

function recordOf(text: string): StreamRecord {
  const fields = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(':'))
    .map((line) => /^(?<name>[^:]*):? ?(?<value>.*)$/s.exec(line)!.groups as { name: string; value: string });
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value);
  return {
    id: fields.findLast(({ name }) => name === 'id')?.value,
    data: data.length > 0 ? data.join('\n') : undefined,
  };
}
