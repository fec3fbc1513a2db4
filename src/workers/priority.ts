import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

// Below the main thread, which then gets a core as soon as it has something to do.
const READER_NICENESS = 10

/** Makes the calling thread give way to the main thread, where the system has a priority for each thread (Linux,
 *  setpriority(2)); elsewhere nothing happens. All reader threads at work on all cores would otherwise let a request
 *  that the main thread answers in microseconds wait for tens of milliseconds. */
export function yieldToMainThread(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), READER_NICENESS)
  } catch {
    // No /proc, or not allowed: it only waits longer.
  }
}
