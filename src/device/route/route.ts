import type { JumpHost } from './jump-host.ts';
import type { ProxyServer } from './proxy-server.ts';

/** The way from here to one device. The TLS connection to the device itself goes all the way, whatever it is. */
export type Route =
  | { readonly kind: 'direct' }
  | {
      readonly kind: 'proxy';
      readonly proxy: ProxyServer;
      /** The environment variable that asks for it; undefined when it was set for this device. */
      readonly variable: string | undefined;
    }
  | {
      readonly kind: 'jump';
      readonly jump: JumpHost;
      /** What ssh gets to see of the environment. */
      readonly env: NodeJS.ProcessEnv;
    };

/** A way by others. */
export type Detour = Exclude<Route, { kind: 'direct' }>;

export const DIRECT: Route = { kind: 'direct' };

/** `proxy http://proxy:3128`, `jump host admin@bastion`; never a password. */
export function routeText(route: Route): string {
  switch (route.kind) {
    case 'direct':
      return 'direct';
    case 'proxy':
      return `proxy ${route.proxy.url}`;
    case 'jump':
      return `jump host ${route.jump.text}`;
  }
}
