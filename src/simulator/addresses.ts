/** `host:port` to listen on; port 0 for any free one. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const HOSTS_PER_NET = 250;

/** The address of a device where every address in 127.0.0.0/8 is ours: 127.0.0.2 to .251, 127.0.1.2 ... */
export function ownAddress(device: number): string {
  return `127.0.${Math.floor(device / HOSTS_PER_NET)}.${2 + (device % HOSTS_PER_NET)}`;
}

/** The most that fit into 127.0.0.0/16. */
export const MAX_DEVICES = 256 * HOSTS_PER_NET;
