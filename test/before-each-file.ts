import fc from 'fast-check';
import { forgetDeclaredSecrets } from '../src/device/secret-names.ts';

// Runs before each file: the names that a profile of an earlier file called secret are secret there alone.
forgetDeclaredSecrets();

// The check of a commit gives the same answer each time; `npm run test:long` looks for new cases.
const seed = process.env['DEVSH_TEST_SEED'];
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
