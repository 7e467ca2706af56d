import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PICTURES } from './pictures.ts';
import { pictureOf } from './screen-picture.ts';
import { openStage } from './stage.ts';
import { toSvg } from './svg.ts';

export interface TakeOptions {
  /** The built program. */
  readonly cli: string;
  /** The folder of the pictures. */
  readonly target: string;
  /** Empty: all. */
  readonly names: readonly string[];
  readonly onTaken: (name: string) => void;
}

/** Takes pictures of the program and writes them as SVG. Returns unknown names as `missing`. */
export async function takePictures({
  cli,
  target,
  names,
  onTaken,
}: TakeOptions): Promise<{ missing: string[] }> {
  await mkdir(target, { recursive: true });
  for (const { name, title, stage: options, play } of PICTURES) {
    if (names.length > 0 && !names.includes(name)) continue;
    const stage = await openStage(cli, options);
    try {
      await play(stage);
      const picture = pictureOf(stage.program, title, options.columns);
      await writeFile(join(target, `${name}.svg`), toSvg(picture));
      onTaken(name);
    } finally {
      await stage.close();
    }
  }
  return { missing: names.filter((wanted) => PICTURES.every(({ name }) => name !== wanted)) };
}
