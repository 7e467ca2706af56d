import { type LockOptions, takeLock } from '../../src/os/lock.ts';

// Takes the lock of a file, says so, and holds it until it is killed.
const [path = '', options = '{}'] = process.argv.slice(2);
await takeLock(path, JSON.parse(options) as LockOptions);
console.log('held');
setInterval(() => undefined, 1_000);
