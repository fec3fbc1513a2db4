import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainWriter } from '../../src/store/rows/chainWriter.js'
import { createChainIndexer } from '../../src/sync/chainIndexer.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { CHUNK_BITS, indexedBlocks } from './chains/indexedChain.js'

/* A program that continues a chain of `indexedBlocks`: `node indexWriterProcess.js DATADIR OPTIONS`. Each block is a
 * transaction, and so is each step of sealing and merging after it. */

/** What it is to do, as JSON. */
export interface IndexWriterOptions {
  seed: number
  forkedAt?: number
  /** The head at which it ends. */
  head: number
  /** Steps of sealing and merging after each block. */
  steps: number
  /** Kills itself inside the transaction of that step, counted from its start. */
  dieAt?: number
  /** Removes the blocks above first. */
  rewindTo?: number
}

const [, , datadir, text] = process.argv
const { head, steps, dieAt, rewindTo, ...which } = JSON.parse(text) as IndexWriterOptions
const db = openForWriting(datadir)
createChainIndexer(db, { chunkBits: CHUNK_BITS }) // before the chain is begun with the usual chunks
const { reader } = await openWritableChain(db, { network: 'mainnet' }, 'none')
const writer = createChainWriter(db)
const indexer = createChainIndexer(db)
let taken = 0

if (rewindTo !== undefined) {
  writer.begin()
  writer.rewindTo(rewindTo)
  indexer.truncate()
  writer.commit()
}
const held = reader.head() ?? -1
for (const { block, receipts } of indexedBlocks(which)) {
  const { number } = block.header
  if (number > head) break
  if (number <= held) continue
  writer.begin()
  writer.insertBlock(block, receipts, 0n)
  indexer.add(block, receipts)
  writer.commit()
  for (let i = 0; i < steps; i++) work()
}
if (dieAt === undefined) while (work());
db.close()

function work(): boolean {
  writer.begin()
  const more = indexer.work(0)
  taken++
  if (taken === dieAt) process.kill(process.pid, 'SIGKILL')
  writer.commit()
  return more
}
