import type { Duplex } from 'node:stream';

/** What a proxy said is no, or nothing that such a proxy says. The message continues its name. */
export class ReplyError extends Error {}

/**
 * Reads one reply and leaves the stream paused behind it. `measure` says how long the reply is as soon as
 * what has come tells it, and throws ReplyError when it is a no. Throws ReplyError also when more comes (a
 * device never speaks first in TLS), when it gets longer than `maxBytes`, and when the stream ends.
 */
export function readReply(
  stream: Duplex,
  measure: (received: Buffer) => number | undefined,
  maxBytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const settle = (): void => {
      stream.off('data', take).off('end', end).off('close', end).off('error', fail);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    const end = (): void => {
      fail(new ReplyError('closed the connection without a whole answer'));
    };
    const take = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      try {
        const size = measure(received);
        if ((size ?? received.length) > maxBytes) {
          throw new ReplyError('answered with more than a proxy has to say');
        }
        if (size === undefined || received.length < size) return;
        if (received.length > size) {
          throw new ReplyError(
            'sent more than its answer, before TLS could begin. Is the port of the device its HTTPS port?',
          );
        }
        stream.pause();
        settle();
        resolve(received);
      } catch (error) {
        stream.pause();
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    };
    stream.on('data', take).once('end', end).once('close', end).once('error', fail);
    stream.resume();
  });
}
