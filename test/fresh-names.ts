import { forgetDeclaredSecrets } from '../src/device/secret-names.ts';

// Runs before each file: the names that a profile of an earlier file called secret are secret there alone.
forgetDeclaredSecrets();
