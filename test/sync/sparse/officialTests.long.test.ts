import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { auditSparseState } from '../../../src/audit/sparseState.js'
import { formatData } from '../../../src/lib/hex.js'
import type { EthRpc } from '../../../src/sources/ethRpc/types.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createBlockAppender } from '../../../src/sync/blockAppender.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { createUpstreamSource, type StateFetchMode } from '../../../src/sync/sparse/stateSource.js'
import { type BlockchainTest, genesisOf, readBlockchainTests } from '../../support/chains/blockchainTest.js'
import { importValidBlocks } from '../../support/chains/importBlockchainTest.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'
import { openStateServer } from '../../support/sparse/stateServer.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

/* The blocks of official tests, executed on a state that begins with the root of the genesis alone: everything that
 * they read comes from proofs or witnesses of a complete database. */

const EVERY = THOROUGH ? 1 : 25
/** Forks under which sparse state can begin. */
const NETWORKS = new Set(['Cancun', 'Prague', 'Osaka', 'Amsterdam', 'BPO1', 'BPO2'])

for (const [source, name] of [
  ['Amsterdam tests', 'amsterdam-tests'],
  ['blockchain tests', 'blockchain-tests'],
]) {
  for (const mode of ['proofs', 'witness'] as const) {
    test(`${source} are executed from ${mode} alone`, { skip: SKIP_SHARED }, async (t) => {
      let [index, tests, blocks, completed] = [0, 0, 0, 0]
      for (const { name: title, test: each } of readBlockchainTests(sharedPath(name)!)) {
        if (!NETWORKS.has(each.network) || index++ % EVERY !== 0) continue
        await t.test(title, async (child) => {
          const followed = await followSparse(child, each, mode)
          blocks += followed.blocks
          if (followed.proofs > 0) completed++
        })
        tests++
      }
      t.diagnostic(`${tests} tests, ${blocks} blocks`)
      assert.ok(blocks > tests / 2)
      // An account whose access lacks gas is loaded by the interpreter, and is in no canonical witness.
      if (mode === 'witness') assert.ok(completed <= tests / 20, `${completed} tests needed proofs beside witnesses`)
    })
  }
}

/** Follows the valid blocks of a test with sparse state, and audits it. @returns how many blocks that are, and how
 *  often proofs were asked for */
async function followSparse(
  t: TestContext,
  blockchainTest: BlockchainTest,
  mode: StateFetchMode,
): Promise<{ blocks: number; proofs: number }> {
  const complete = await importValidBlocks(t, blockchainTest)
  const server = await openStateServer(t, complete)
  const source = openForReading(complete)
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => {
    source.close()
    db.close()
  })
  const chain = await openWritableChain(db, { genesis: genesisOf(blockchainTest) }, 'sparse')
  chain.sparse!.connect(createUpstreamSource(server as unknown as EthRpc, { mode }))
  const appender = createBlockAppender(chain)
  const reader = createChainReader(source)
  const head = reader.head()!
  for (let number = 0; number <= head; number++) {
    const { hash, header, sizeBytes, withdrawals, totalDifficulty } = reader.blockByNumber(number)!
    const stored = reader.blockByNumber(number)!
    const block = {
      ...{ hash, header, sizeBytes, withdrawals },
      transactions: reader.transactions(stored),
      uncles: [],
    }
    const first = number === 0 ? { totalDifficulty, receipts: [] } : {}
    await appender.take({ block, ...first }, 1)
    await appender.flush()
    chain.head.commit()
  }
  assert.equal(formatData(chain.head.newest!.hash), formatData(reader.headHash()!))
  const { blocks, unaudited } = auditSparseState(db)
  assert.deepEqual({ blocks, unaudited }, { blocks: head, unaudited: 0 })
  return { blocks: head, proofs: server.calls.proofs }
}
