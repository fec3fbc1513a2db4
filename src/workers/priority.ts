import { readdirSync, readlinkSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/* Niceness values are relative to that of the process, which an operator may have started with `nice`. */

/** Niceness of reader threads: below the main thread, which then gets a core as soon as it has work. */
export const READER_NICENESS = 10

/** Niceness of the quick queue's thread: below the main thread, above threads with long requests. */
export const QUICK_NICENESS = 4

/** Niceness of threads whose work the writing thread needs soon: below the writing thread, above readers. */
export const HELPER_NICENESS = 5

/** Niceness of threads whose work the writing thread can wait for. On two cores, it would otherwise wait for a core
 *  for a sixth of the time while it catches up. */
export const BACKGROUND_NICENESS = READER_NICENESS

/** Lowers the priority of the calling thread below the main thread's, where the system has thread priorities (Linux,
 *  setpriority(2)). With reader threads busy on all cores, requests that the main thread answers in microseconds would
 *  otherwise wait for tens of milliseconds. */
export function yieldToMainThread(niceness: number): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')))
    setPriority(thread, Math.min(getPriority(process.pid) + niceness, constants.priority.PRIORITY_LOW))
  } catch {
    // No /proc, or not permitted: the main thread only waits longer.
  }
}

/** Gives all threads of this process the priority of the main thread again, where the process may (on Linux that takes
 *  CAP_SYS_NICE). For a process that ends: on a busy machine its threads would otherwise wait for seconds for the
 *  milliseconds that they need to exit. */
export function restorePriorities(): void {
  if (process.platform !== 'linux') return
  for (const thread of listThreads()) {
    try {
      setPriority(Number(thread), getPriority(process.pid))
    } catch {
      // It has just ended, or this is not permitted: the end only takes longer.
    }
  }
}

function listThreads(): string[] {
  try {
    return readdirSync('/proc/self/task')
  } catch {
    return [] // no /proc
  }
}
