import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

/** Niceness of reader threads: below the main thread, which then gets a core as soon as it has work. */
export const READER_NICENESS = 10

/** Niceness of the quick lane's thread: below the main thread, above threads with long requests. */
export const QUICK_NICENESS = 4

/** Lowers the priority of the calling thread below the main thread's, where the system has thread priorities (Linux,
 *  setpriority(2)). With reader threads busy on all cores, requests that the main thread answers in microseconds would
 *  otherwise wait for tens of milliseconds. */
export function yieldToMainThread(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), niceness)
  } catch {
    // No /proc, or not allowed: the main thread only waits longer.
  }
}
