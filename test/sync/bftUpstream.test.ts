import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditBlocks } from '../../src/audit/blocks.js'
import { encodeBlock } from '../../src/chain/eth/block.js'
import { familyOf } from '../../src/chain/eth/families/families.js'
import { parseGenesis } from '../../src/chain/eth/genesis.js'
import { EMPTY_TRIE_ROOT } from '../../src/chain/eth/trie.js'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { noProgress } from '../../src/lib/progress.js'
import { formatWholeBlock } from '../../src/rpc/eth/format/block.js'
import { openEthRpc } from '../../src/sources/ethRpc/ethRpc.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { ReorgBelowFinalized } from '../../src/sync/head/errors.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { type BftName, bftGenesis, sealBftBlock } from '../support/chains/bftBlocks.js'
import { temporaryDirectory } from '../support/temporary.js'
import { RpcFailure, startScriptedUpstream } from '../support/upstream/scriptedUpstream.js'

/* Sealed chains from a node, as JSON and as RLP, into a database. */

const BLOCKS = 40

function makeChain(name: BftName): Block[] {
  const { spec, header: withoutRoot } = parseGenesis(bftGenesis(name))
  const header = { ...withoutRoot, stateRoot: EMPTY_TRIE_ROOT }
  const hash = familyOf(spec).hashHeader(header)
  const blocks: Block[] = [{ hash, header, transactions: [], uncles: [], sizeBytes: 0 }]
  for (let number = 1; number <= BLOCKS; number++) {
    blocks.push(
      sealBftBlock(name, blocks[number - 1], { round: number % 3, signers: number % 2 ? [0, 1, 2] : [3, 1, 0] }),
    )
  }
  return blocks.map((block) => ({ ...block, sizeBytes: encodeBlock(block).length }))
}

for (const name of ['qbft', 'ibft2'] as const) {
  for (const lacks of [[], ['debug_getRawBlock']]) {
    test(`a chain of ${name} is stored and verified, from ${lacks.length > 0 ? 'JSON' : 'RLP'}`, async (t) => {
      const blocks = makeChain(name)
      const find = (id: unknown) =>
        typeof id === 'string' && id.length === 66
          ? blocks.find(({ hash }) => formatData(hash) === id)
          : blocks[Number(id)]
      const upstream = await startScriptedUpstream(
        {
          head: BLOCKS,
          close: () => {},
          result: async (method, [id, isFull]) => {
            if (method === 'eth_chainId') return '0x539'
            const block = find(id)
            if (/^eth_getBlockBy/.test(method))
              return block ? formatWholeBlock(block, BigInt(block.header.number), isFull === true) : null
            if (method === 'debug_getRawBlock') return block ? formatData(encodeBlock(block)) : null
            throw new RpcFailure(-32601, method)
          },
        },
        { name: 'lacks', lacks },
      )
      t.after(() => upstream.close())
      const db = openForWriting(temporaryDirectory(t))
      t.after(() => db.close())
      const genesis = bftGenesis(name)
      const chain = await openWritableChain(db, { genesis }, 'none')
      const rpc = openEthRpc({
        ...{ upstreams: [{ url: upstream.url }], chainId: 1337n, spec: chain.spec, genesisHash: blocks[0].hash },
        ...{ withReceipts: true, log: silentLogger, maxFailures: 1 },
      })
      t.after(() => rpc.close())
      await rpc.start()
      const summary = await importBlocks(chain, rpc.source({ to: BLOCKS }), { progress: noProgress })
      assert.equal(summary.imported, BLOCKS + 1)
      assert.equal(formatData(chain.reader.headHash()!), formatData(blocks[BLOCKS].hash))
      assert.equal(auditBlocks(db).blocks, BLOCKS + 1)
      // The seals make every block final.
      assert.ok(chain.head.isFinalityStored())
      assert.deepEqual(chain.head.finality(), { safe: BLOCKS, finalized: BLOCKS })
      assert.throws(() => chain.head.rewind(BLOCKS - 1), ReorgBelowFinalized)
    })
  }
}
