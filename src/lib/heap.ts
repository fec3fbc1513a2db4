import { setFlagsFromString } from 'node:v8'

/** Growth of a heap, in percent of what lived in it at the last full collection, before the next one. */
const GROWTH_PERCENT = 300

/** Makes full garbage collections rarer in this process, for all threads that are started afterwards too. V8 counts the
 *  buffers of answers as growth of the heap, which is small: without this, a hundred answers of 100 KB are enough for a full
 *  collection of 7 to 16 ms, in which nothing is answered. Costs up to three times the living heap of each thread in
 *  memory: some tens of megabytes. */
export function collectSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
