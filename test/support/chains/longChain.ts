import { join } from 'node:path'
import { createAddress } from '../../../src/chain/eth/transaction.js'
import { completeIndex } from '../../../src/index/segments/reindex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { openL2File } from '../../../src/sources/files/starknetFile.js'
import { createApiKeyTable } from '../../../src/store/keys/apiKeys.js'
import { L2Writer } from '../../../src/store/l2/l2Writer.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { CHAIN_INDEXES, createChainIndexer } from '../../../src/sync/chainIndexer.js'
import { importL2 } from '../../../src/sync/import/l2Import.js'
import { createChainBuilder, type TransactionPlan } from '../../../tools/fixture/chainBuilder.js'
import { encodeWords } from '../../../tools/fixture/contracts.js'
import { type Cast, createCast, createGenesisFile } from '../../../tools/fixture/genesis.js'
import { playScenario } from '../../../tools/fixture/scenario.js'
import { seededRandom } from '../random.js'
import { FIXTURE_FOLDER } from './fixture.js'
import { verifyHere } from './l2.js'

/** Makes a database that has something in every table: the bundled chain's story and blocks after it up to `head`,
 *  indexes with segments of several levels, the bundled layer-2 blocks, two API keys. Its write-ahead log is
 *  empty. @returns the keys; the second is revoked */
export async function buildLongChain(datadir: string, head: number): Promise<string[]> {
  const db = openForWriting(datadir)
  createChainIndexer(db, { chunkBits: 6 }).add({ transactions: [] }, [])
  const cast = createCast()
  const builder = await createChainBuilder(db, createGenesisFile(cast))
  await playScenario(builder, cast)
  const random = seededRandom(7)
  while (builder.blocks.length < head - 1) {
    const count = random.below(4)
    await builder.add({ transactions: Array.from({ length: count }, () => randomPlan(cast, random.below)) })
  }
  for (const kind of CHAIN_INDEXES) await completeIndex(db, kind, { progress: noProgress })
  await builder.add({ transactions: Array.from({ length: 3 }, () => randomPlan(cast, random.below)) })
  const l2 = { verify: verifyHere, log: silentLogger, progress: noProgress }
  await importL2(openL2File(join(FIXTURE_FOLDER, 'l2.ndjson')), new L2Writer(db), l2)
  const keys = createApiKeyTable(db)
  const made = ['first', 'second'].map((name) => keys.create(name))
  keys.revoke(made[1].id)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return made.map(({ key }) => key)
}

/** A transaction that logs, stores, creates or pays. */
function randomPlan(cast: Cast, below: (limit: number) => number): TransactionPlan {
  const senders = [cast.alice, cast.bob, cast.carol]
  const sender = senders[below(3)]
  const emitter = createAddress(cast.alice.address, 1n)
  const requests = Buffer.from('00000961ef480eb55e80d19ad83579a64c007002', 'hex')
  switch (below(5)) {
    case 0:
      return { sender, type: 2, to: senders[below(3)].address, value: BigInt(below(1000)) }
    case 1:
      return { sender, type: 2, to: new Uint8Array(20).fill(1 + below(40)), value: 1n }
    case 2:
      return { sender, type: 2, to: requests, input: encodeWords(BigInt(1 + below(1000))) }
    default: {
      const words = [1 + below(3), below(5), below(90), below(100_000)].map(BigInt)
      return { sender, type: (below(2) * 2) as 0 | 2, to: emitter, input: encodeWords(...words), gasLimit: 400_000n }
    }
  }
}
