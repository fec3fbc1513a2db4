import { createDefaultsImport, createStoredImport, type Imported } from '../evm/importEngines.js'
import type { ImportPlan, ImportResult } from '../evm/plans.js'

/* Imports a chain in this process again and again until the time is used up. Making a database and its genesis is no part
 * of the time. */

const WALL_FACTOR = 3
const LEAST_IMPORTS = 3

process.once('message', async ({ engine, chain, directory, seconds }: ImportPlan) => {
  const run = engine === 'defaults' ? await createDefaultsImport(chain) : createStoredImport(engine, chain, directory)
  const controller = new AbortController()
  const imports: Imported[] = []
  let left = seconds
  const began = performance.now()
  // To make a database takes longer than to import a short chain into it.
  const inTime = () => performance.now() - began < seconds * WALL_FACTOR * 1000
  while (left > 0 && (imports.length < LEAST_IMPORTS || inTime())) {
    let timer: NodeJS.Timeout | undefined
    const imported = await run(() => {
      timer = setTimeout(() => controller.abort(), left * 1000)
      return controller.signal
    })
    clearTimeout(timer)
    if (imported.blocks > 0) imports.push(imported)
    left = controller.signal.aborted ? 0 : left - imported.seconds
  }
  const [first] = imports
  if (first === undefined) throw new Error(`${chain.path}: no block within ${seconds} s`)
  // The first one compiles the code: it counts only where there is no other.
  const counted = imports.length > 1 ? imports.slice(1) : imports
  const sum = (of: (imported: Imported) => number) => counted.reduce((total, each) => total + of(each), 0)
  const elapsed = sum((each) => each.seconds)
  const result: ImportResult = {
    blocksPerSecond: sum(({ blocks }) => blocks) / elapsed,
    mgasPerSecond: sum(({ gas }) => Number(gas)) / 1e6 / elapsed,
    firstBlocksPerSecond: first.blocks / first.seconds,
    blocks: first.blocks,
    mgas: Number(first.gas) / 1e6,
    imports: imports.length,
  }
  process.send!(result)
  process.disconnect()
})
