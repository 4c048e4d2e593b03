/** The lines of an event stream that have a meaning. Parsers ignore all others. */
const MEANT = /^(?:$|:|(?:data|event|id)(?::|$)|retry: ?\d+$)/;
/** The name of an event that the client ignores. */
const OTHER = /^event:(?! ?(?:message)?$)/;
/** The start of a line of data. */
const DATA = /^data(?:: ?|$)/;

/**
 * Removes the meaningless lines from an event stream and normalizes line ends. The client's parser creates an error with a stack
 * for each such line, so two megabytes of them would block the process for many seconds. Events that are no
 * messages, and messages that are not admitted, lose their data, so the parser skips them.
 */
export function meantLines(admits: (data: string) => boolean): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  /** The lines of the event that has not ended. */
  let event: string[] = [];
  const meantIn = (text: string): Uint8Array => {
    rest += text;
    if (!/[\r\n]/.test(text)) return encoder.encode();
    // A CR at the end may be the first half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    const meant: string[] = [];
    for (const line of lines) {
      if (!MEANT.test(line)) continue;
      if (line !== '') event.push(line);
      else {
        for (const one of admittedOf(event, admits)) meant.push(one);
        meant.push('');
        if (event.length > 0) event = [];
      }
    }
    return encoder.encode(meant.map((line) => `${line}\n`).join(''));
  };
  return new TransformStream({
    transform: (bytes, controller) => controller.enqueue(meantIn(decoder.decode(bytes, { stream: true }))),
    flush: (controller) => controller.enqueue(encoder.encode([...event, rest].join('\n'))),
  });
}

function admittedOf(event: readonly string[], admits: (data: string) => boolean): readonly string[] {
  if (event.length === 0) return event;
  const data = event.filter((line) => DATA.test(line));
  if (data.length === 0) return event;
  const isMessage = !event.some((line) => OTHER.test(line));
  if (isMessage && admits(data.map((line) => line.replace(DATA, '')).join('\n'))) return event;
  return event.filter((line) => !DATA.test(line));
}
