import { messageOf } from '../../../src/lib/errors.js'
import { createDefaultsImport, createStoredImport, type Imported } from '../importEngines.js'
import type { ImportOutcome, ImportPlan, ImportResult } from '../plans.js'

/* Imports a chain in this process again and again until the time is used up. Making a database and its genesis is no
 * part of the time. */

const WALL_FACTOR = 3
const LEAST_IMPORTS = 3

process.once('message', async (plan: ImportPlan) => {
  const outcome = await measure(plan).catch((error: unknown): ImportOutcome => ({ failure: messageOf(error) }))
  process.send!(outcome)
  process.disconnect()
})

async function measure(plan: ImportPlan): Promise<ImportResult> {
  const { engine, chain, seconds, warmSeconds } = plan
  const run = engine === 'defaults' ? await createDefaultsImport(chain) : createStoredImport({ ...plan, engine })
  const controller = new AbortController()
  const imports: Imported[] = []
  const warm: Imported[] = []
  let left = warmSeconds + seconds
  const began = performance.now()
  // To make a database takes longer than to import a short chain into it.
  const inTime = () => performance.now() - began < (warmSeconds + seconds) * WALL_FACTOR * 1000
  while (left > 0 && (imports.length < LEAST_IMPORTS || inTime())) {
    const isWarm = left <= seconds
    let timer: NodeJS.Timeout | undefined
    const imported = await run(() => {
      timer = setTimeout(() => controller.abort(), left * 1000)
      return controller.signal
    })
    clearTimeout(timer)
    if (imported.blocks > 0) imports.push(imported)
    if (imported.blocks > 0 && isWarm) warm.push(imported)
    left = controller.signal.aborted ? 0 : left - imported.seconds
  }
  const [first] = imports
  if (first === undefined) throw new Error(`${chain.path}: no block within ${warmSeconds + seconds} s`)
  // The first ones compile the code: they count only where there are no others.
  const counted = warm.length > 0 ? warm : imports.slice(imports.length > 1 ? 1 : 0)
  const sum = (of: (imported: Imported) => number) => counted.reduce((total, each) => total + of(each), 0)
  const elapsed = sum((each) => each.seconds)
  return {
    blocksPerSecond: sum(({ blocks }) => blocks) / elapsed,
    mgasPerSecond: sum(({ gas }) => Number(gas)) / 1e6 / elapsed,
    firstBlocksPerSecond: first.blocks / first.seconds,
    blocks: first.blocks,
    mgas: Number(first.gas) / 1e6,
    imports: imports.length,
    databaseBytes: first.databaseBytes ?? 0,
    accessListBytes: first.accessListBytes ?? 0,
  }
}
