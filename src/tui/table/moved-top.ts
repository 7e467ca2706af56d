import type { MoveAction } from '../keys/key-binding.ts';

/** The first line shown after a move; `last` is the furthest that it can be. */
export function movedTop(top: number, action: MoveAction, height: number, last: number): number {
  const by: Record<MoveAction, number> = {
    up: -1,
    down: 1,
    'page-up': 1 - height,
    'page-down': height - 1,
    'half-up': -Math.ceil(height / 2),
    'half-down': Math.ceil(height / 2),
    first: -Infinity,
    last: Infinity,
  };
  return Math.max(0, Math.min(last, Math.min(top, last) + by[action]));
}
