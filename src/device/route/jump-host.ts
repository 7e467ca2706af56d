import { UsageError } from '../../errors.ts';

/** Where `ssh` goes to reach a device from there: a name of `~/.ssh/config`, or `USER@HOST:PORT`. */
export interface JumpHost {
  /** `HOST` or `USER@HOST`. */
  readonly destination: string;
  readonly port: number | undefined;
  /** As it was written. */
  readonly text: string;
}

// What a shell in a ProxyCommand, or ssh's own options, could be led astray by has no place here.
const JUMP = /^((?:[\w.+][\w.+-]*@)?(?:[\w.][\w.-]*|\[[\da-f:.]+\]))(?::(\d{1,5}))?$/i;

/** Throws UsageError. */
export function parseJumpHost(text: string): JumpHost {
  const trimmed = text.trim();
  const [, destination, port] = JUMP.exec(trimmed) ?? [];
  if (destination === undefined) {
    throw new UsageError(
      'this is no jump host: write HOST, USER@HOST or USER@HOST:PORT, as ssh knows it',
    );
  }
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
    throw new UsageError('the port of a jump host is a number from 1 to 65535');
  }
  return {
    // ssh takes an IPv6 address bare.
    destination: destination.replace(/[[\]]/g, ''),
    port: port === undefined ? undefined : Number(port),
    text: trimmed,
  };
}
