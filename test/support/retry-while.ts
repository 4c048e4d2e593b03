import { eventually } from './eventually.js';

/**
 * Repeats a request while it fails with this error, because a deadline may be shorter than a busy machine needs for the first
 * answer. @throws any other error of the request at once
 */
export async function retryWhile<T>(
  unavailable: new (...args: never[]) => Error,
  request: (attempt: number) => Promise<T>,
): Promise<T> {
  let attempts = 0;
  let answer: Promise<T>;
  await eventually(async () => {
    answer = request(++attempts);
    await answer.catch((error: unknown) => {
      if (error instanceof unavailable) throw error;
    });
    return true;
  });
  return answer!;
}
