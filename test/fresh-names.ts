import { forgetDeclaredSecrets } from '../src/device/sensitive-fields.ts';

// Runs before each file: the names that a profile of an earlier file called secret are secret there alone.
forgetDeclaredSecrets();
