import { writeSync } from 'node:fs'

const PAUSE_MS = 5

/** Writes all bytes to a file descriptor and returns their number. Retries a full pipe for `patienceMs`; after that the
 *  number may be less. @throws the system's error, such as ENOSPC or EPIPE, with `written`, the number of bytes before
 *  it */
export function writeWhole(fd: number, bytes: Uint8Array, patienceMs: number): number {
  let written = 0
  let waitedMs = 0
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written)
      waitedMs = 0
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw Object.assign(error as Error, { written })
      if (waitedMs >= patienceMs) return written
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
      waitedMs += PAUSE_MS
    }
  }
  return written
}
