import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { programEnv } from './process.ts';

test.each(['runs', 'info', '__complete bash user'])(
  'a removed current folder is no bug: %s',
  (line) => {
    const folder = mkdtempSync(join(tmpdir(), 'devsh-removed-'));
    const command = `mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" ${line}`;
    const ended = spawnSync('sh', ['-c', command, process.execPath, inject('cli')], {
      ...{ cwd: folder, env: programEnv(folder) },
    });
    expect({ status: ended.status, stderr: String(ended.stderr) }).toMatchObject({ status: 0 });
  },
);
