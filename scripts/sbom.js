// Prints the bill of materials of the bundle (CycloneDX).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'devsh-sbom-'));
try {
  const root = resolve(import.meta.dirname, '..');
  execFileSync(process.execPath, ['build.js', folder], { cwd: root, stdio: 'ignore' });
  process.stdout.write(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
