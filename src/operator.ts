import { hostname, userInfo } from 'node:os';

/** Who uses devsh, for the journal: `user@machine`. */
export function operatorName(): string {
  return `${userInfo().username}@${hostname()}`;
}
