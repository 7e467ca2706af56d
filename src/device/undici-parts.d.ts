declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}

declare module 'undici/lib/core/socks5-client.js' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';

  export class Socks5Client extends EventEmitter {
    readonly socket: Socket;
    constructor(
      socket: Socket,
      login: { username: string | undefined; password: string | undefined },
    );
    handshake(): void;
    connect(host: string, port: number): void;
  }
}
