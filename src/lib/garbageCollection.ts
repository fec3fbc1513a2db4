import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Heap growth before the next full collection, in percent of its live size after the last one. */
const GROWTH_PERCENT = 300

/** Makes full garbage collections rarer in this process and in threads started later. V8 counts response buffers as
 *  growth of a small heap: without this, a hundred responses of 100 KB cause a full collection of 7 to 16 ms, during
 *  which nothing is answered. Costs up to three times the live heap of each thread: some tens of megabytes. */
export function reduceGcFrequency(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}

let collect: (() => void) | undefined
let isDue = false

/** Collects this thread's garbage after the current task and returns its memory to the system, for a thread that
 *  briefly used hundreds of megabytes. Takes some tens of milliseconds. */
export function collectGarbageSoon(): void {
  if (isDue) return
  isDue = true
  setImmediate(() => {
    isDue = false
    collect ??= exposeCollection()
    collect()
  })
}

/** How long, and how idle, the event loop is before garbage is collected for the memory alone. */
const QUIET_MS = 1000
const QUIET_UTILIZATION = 0.05
let isWatching = false

/** Collects this thread's garbage once the thread has been almost idle for a second. V8 then returns the pages within
 *  some 15 s. */
export function collectGarbageWhenQuiet(): void {
  if (isWatching) return
  isWatching = true
  const begun = performance.eventLoopUtilization()
  setTimeout(() => {
    isWatching = false
    if (performance.eventLoopUtilization(begun).utilization > QUIET_UTILIZATION) collectGarbageWhenQuiet()
    else collectGarbageSoon()
  }, QUIET_MS).unref()
}

function exposeCollection(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
