import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of answers between two collections: fewer than V8 lets come together by itself. */
const COLLECT_BYTES = 2_000_000

let collect: (() => void) | undefined
let waiting = 0

/** Counts the bytes of an answer that were read. Called between two questions: from time to time it collects all
 *  garbage, so that no collection is within the time of a question. This process holds much after it has filled
 *  databases. */
export function collectBetween(bytes: number): void {
  waiting += bytes
  if (waiting < COLLECT_BYTES) return
  waiting = 0
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
