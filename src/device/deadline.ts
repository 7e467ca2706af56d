/** How often is looked whether this process gets its turns, as long as something is waited for. */
const BEAT_MS = 50;

/** A beat that is later than that was held up by our own work, or by others on this machine. */
const LATE_MS = 100;

let openCount = 0;
let beat: NodeJS.Timeout | undefined;
let lastBeatAt = 0;
let heldUpMs = 0;

/**
 * Calls `expire` after `limitMs` of waiting, unless the function that it gives is called before. Times in
 * which this process could not look at what had arrived are not the device's: they do not count, and
 * after them there is always a turn in which it is looked at.
 */
export function startDeadline(limitMs: number, expire: () => void): () => void {
  if (openCount === 0) startBeating();
  openCount += 1;
  const startedAt = performance.now();
  const heldUpBefore = heldUp();
  const check = (): void => {
    const waitedMs = performance.now() - startedAt - (heldUp() - heldUpBefore);
    // Timers count in whole milliseconds, and may be a part of one early.
    if (waitedMs < limitMs - 1) {
      timer = setTimeout(check, limitMs - waitedMs);
      return;
    }
    stop();
    expire();
  };
  let timer = setTimeout(check, limitMs);
  let isOpen = true;
  const stop = (): void => {
    clearTimeout(timer);
    if (!isOpen) return;
    isOpen = false;
    openCount -= 1;
    if (openCount === 0) clearInterval(beat);
  };
  return stop;
}

function startBeating(): void {
  lastBeatAt = performance.now();
  beat = setInterval(() => {
    heldUpMs = heldUp();
    lastBeatAt = performance.now();
  }, BEAT_MS);
  // Who waits has a timer of its own.
  beat.unref();
}

/** For how long in all, and just now, no beat came. */
function heldUp(): number {
  const lateMs = performance.now() - lastBeatAt - BEAT_MS;
  return heldUpMs + (lateMs > LATE_MS ? lateMs : 0);
}
