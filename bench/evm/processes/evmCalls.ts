import { equalBytes } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createStateReads } from '../../../src/store/state/stateReader.js'
import { openCallEngine, type RunCall } from '../callEngines.js'
import type { CallsPlan, CallsResult } from '../plans.js'
import { type BenchCall, type CallShape, makeCallShapes, numbered, type ReadSlot, slotReader } from '../shapes.js'

/* Runs calls in this process one after another and counts them, each shape for the same time. The first results and one
 * in the end are compared with what was computed without an EVM. */

const CHECKED = 3

process.once('message', async ({ engine, datadir, names, seconds, warmSeconds }: CallsPlan) => {
  const db = openForReading(datadir)
  const reads = createStateReads(db)
  const head = createChainReader(db).head()!
  const readSlot = slotReader((address, slot) => reads.storage(address, slot, head))
  const run = await openCallEngine(engine, db)
  const results: CallsResult[] = []
  for (const shape of makeCallShapes().filter(({ name }) => names.includes(name))) {
    const calls = Array.from({ length: shape.variants }, (_, variant) => shape.call(variant))
    for (let variant = 0; variant < CHECKED; variant++) await check(run, shape, { variant, calls, readSlot })
    await count(run, calls, warmSeconds)
    const { done, elapsed } = await count(run, calls, seconds)
    await check(run, shape, { variant: done, calls, readSlot })
    results.push({ name: shape.name, perSecond: done / elapsed, calls: done })
  }
  db.close()
  process.send!(results)
  process.disconnect()
})

let n = 0

async function count(run: RunCall, calls: readonly BenchCall[], seconds: number) {
  const started = performance.now()
  let done = 0
  let elapsed = 0
  while (elapsed < seconds) {
    const call = calls[done % calls.length]
    await run({ ...call, data: numbered(call.data, n++) })
    done++
    elapsed = (performance.now() - started) / 1000
  }
  return { done, elapsed }
}

async function check(
  run: RunCall,
  shape: CallShape,
  { variant, calls, readSlot }: { variant: number; calls: readonly BenchCall[]; readSlot: ReadSlot },
): Promise<void> {
  const index = variant % calls.length
  const output = await run({ ...calls[index], data: numbered(calls[index].data, n++) })
  const expected = shape.expected(index, readSlot)
  if (equalBytes(output, expected)) return
  throw new Error(`${shape.name}, variant ${index}: ${formatData(output)} instead of ${formatData(expected)}`)
}
