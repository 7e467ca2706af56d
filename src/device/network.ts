// What opens connections, and all that only they need, undici among it. Loaded when the first device is used:
// a prompt, help and the inventory are there without.
export { decodeList } from './decode.ts';
export { Device } from './device.ts';
export { changedCertificate, scanCertificate } from './tls.ts';
