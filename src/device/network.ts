// Everything that opens connections, undici included. Loaded with the first device, because a prompt, help
// and the inventory do not need it.
export { decodeList } from './decode.ts';
export { Device } from './device.ts';
export { changedCertificate, scanCertificate } from './tls.ts';
