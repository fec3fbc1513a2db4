import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Growth of a heap, in percent of what lived in it at the last full collection, before the next one. */
const GROWTH_PERCENT = 300

/** Makes full garbage collections rarer in this process, for all threads that are started afterwards too. V8 counts the
 *  buffers of answers as growth of the heap, which is small: without this, a hundred answers of 100 KB are enough for a full
 *  collection of 7 to 16 ms, in which nothing is answered. Costs up to three times the living heap of each thread in
 *  memory: some tens of megabytes. */
export function reduceGcFrequency(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}

let collect: (() => void) | undefined
let isDue = false

/** Collects all garbage of this thread's heap once what is under way is done, and so gives its memory back to the system: for
 *  a thread that held hundreds of megabytes for a moment, and would keep them until it needs as much again. Takes some tens
 *  of milliseconds. */
export function collectSoon(): void {
  if (isDue) return
  isDue = true
  setImmediate(() => {
    isDue = false
    collect ??= exposeCollection()
    collect()
  })
}

function exposeCollection(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
