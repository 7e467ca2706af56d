import { CancelledError } from '../errors.ts';

/** What is waited for, or CancelledError when `signal` ends it: a pipe or a terminal may never give anything. */
export async function unlessCancelled<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const cancelled = new Promise<never>((_resolve, reject) => {
    const cancel = (): void => {
      reject(new CancelledError());
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([waiting, cancelled]);
  } finally {
    over.abort();
  }
}
