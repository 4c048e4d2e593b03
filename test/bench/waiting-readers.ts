import { setMaxListeners } from 'node:events';
import { type Call, postStream, read } from './token-reader.js';

/**
 * Readers that have been greeted and now wait. `at` returns the address of each, and `connectingAtOnce` of them connect at a
 * time.
 */
export async function waitingReaders(
  count: number,
  at: (index: number) => [string, Call],
  connectingAtOnce = 1,
): Promise<AbortController> {
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  let next = 0;
  const connecting = async (): Promise<void> => {
    while (next < count) {
      const [url, call] = at(next++);
      await new Promise<void>((greeted, refused) => {
        const onText = (): undefined => greeted() as undefined;
        read(url, { ...call, signal: leaving.signal }, { onText }).catch(refused);
      });
    }
  };
  await Promise.all(Array.from({ length: connectingAtOnce }, connecting));
  return leaving;
}

/** An answer whose model says one word and then nothing more. */
export async function silentAnswer(serviceUrl: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const leaving = new AbortController();
  const [url, call] = postStream(serviceUrl, 'One word, then silence.');
  const id = await new Promise<string>((found, refused) => {
    let text = '';
    const onText = (piece: string): undefined => {
      text += piece;
      const id = /"message_id":"([^"]+)"/.exec(text)?.[1];
      if (id && text.includes('"answer"')) found(id);
      return undefined;
    };
    read(url, { ...call, headers, signal: leaving.signal }, { onText }).catch(refused);
  });
  leaving.abort();
  return id;
}
