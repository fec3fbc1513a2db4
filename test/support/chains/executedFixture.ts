import type { TestContext } from 'node:test'
import { noProgress } from '../../../src/lib/progress.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { temporaryDirectory } from '../temporary.js'
import { fixtureBlocks, fixtureGenesis, sourceOf } from './fixture.js'
import type { OutcomeBlock } from './randomBlocks.js'

/** Blocks of the fixture, from block 1 on, with the receipts of their execution. */
export async function executedFixture(t: Pick<TestContext, 'after'>): Promise<OutcomeBlock[]> {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute')
  const blocks = fixtureBlocks()
  await importBlocks(chain, sourceOf(blocks), { progress: noProgress })
  const receiptsOf = (number: number) => chain.reader.receipts(chain.reader.blockByNumber(number)!)
  return blocks.map((block) => ({ block, receipts: receiptsOf(block.header.number).map(({ receipt }) => receipt) }))
}
