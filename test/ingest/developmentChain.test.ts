import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeBlock } from '../../src/chain/eth/block.js'
import { EMPTY_REQUESTS_HASH, EMPTY_UNCLES_HASH } from '../../src/chain/eth/emptyHashes.js'
import { InvalidGenesis, parseGenesis } from '../../src/chain/eth/genesis.js'
import { hashHeader } from '../../src/chain/eth/header.js'
import { EMPTY_TRIE_ROOT } from '../../src/chain/eth/trie.js'
import type { Block, Header } from '../../src/chain/eth/types.js'
import { EVM_KINDS } from '../../src/evm/kinds.js'
import { auditBlocks } from '../../src/ingest/audit/blocks.js'
import { auditState } from '../../src/ingest/audit/state.js'
import { openWritableChain, type WritableChain } from '../../src/ingest/chainState.js'
import { createIntake } from '../../src/ingest/intake.js'
import { InvalidBlock } from '../../src/ingest/verify.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { hashAccounts } from '../../src/trie/stateRoot.js'
import { temporaryDirectory } from '../support/temporary.js'

// As anvil's: block 0 has the root of no state, no contract for requests is there, and blocks come several a second.
const RICH = `0x${'11'.repeat(20)}`
const alloc = { [RICH]: { balance: '0xde0b6b3a7640000' } }
const stateHash = formatData(EMPTY_TRIE_ROOT)

function genesisOf({ development = true, ...members }: { development?: boolean; stateHash?: string }) {
  const config = { chainId: 31337, londonBlock: 0, terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: 0 }
  const later = {
    pragueTime: 0,
    osakaTime: 0,
    blobSchedule: { osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5007716 } },
  }
  return { config: { ...config, ...later, development }, gasLimit: '0x1c9c380', timestamp: '0x64', alloc, ...members }
}

const STATE_ROOT = hashAccounts(
  parseGenesis(genesisOf({})).accounts.map(({ address, nonce, balance }) => ({
    ...{ address, cleared: false, slots: [] },
    account: {
      nonce,
      balance,
      codeHash: parseHex('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'),
    },
  })),
)

/** A block without transactions after `parent`, with its timestamp and base fee. */
function childOf({ hash, header: parent }: { hash: Uint8Array; header: Header }, fields: Partial<Header> = {}): Block {
  const header: Header = {
    ...parent,
    ...{ parentHash: hash, number: parent.number + 1, stateRoot: STATE_ROOT, gasUsed: 0n },
    ...{ unclesHash: EMPTY_UNCLES_HASH, requestsHash: EMPTY_REQUESTS_HASH },
    ...fields,
  }
  const parts = { header, transactions: [], uncles: [], withdrawals: [] }
  return { ...parts, hash: hashHeader(header), sizeBytes: encodeBlock(parts).length }
}

async function take(chain: WritableChain, fields?: Partial<Header>): Promise<void> {
  await createIntake(chain).take({ block: childOf(chain.head.newest!, fields) }, 1)
  chain.head.commit()
}

for (const evm of EVM_KINDS) {
  test(`a development chain is executed from a block 0 that does not commit to its state, by ${evm}`, async (t) => {
    const datadir = temporaryDirectory(t)
    const source = { genesis: genesisOf({ stateHash }) }
    const open = async () => {
      const db = openForWriting(datadir)
      t.after(() => db.close())
      return { db, chain: await openWritableChain(db, source, 'execute', { evm }) }
    }
    const first = await open()
    assert.deepEqual(first.chain.head.newest!.header.stateRoot, EMPTY_TRIE_ROOT)
    first.chain.head.finalize({ safe: 0, finalized: 0 })
    for (let i = 0; i < 3; i++) await take(first.chain, { gasLimit: 30_000_000n * BigInt(i + 1) })
    first.chain.head.rewind(0)
    first.chain.head.commit()
    first.db.close()
    const second = await open() // its newest block is block 0, whose root is not that of the stored trie
    for (let i = 0; i < 3; i++) await take(second.chain)
    await assert.rejects(take(second.chain, { timestamp: 99n }), { name: 'InvalidBlock', check: 'timestamp' })
    await assert.rejects(take(second.chain, { stateRoot: EMPTY_TRIE_ROOT }), { check: 'state root' })
    assert.equal(auditState(second.db).blocks, 4)
    assert.equal(auditBlocks(second.db, {}).blocks, 4)
  })
}

test('another chain takes neither a state root that is not that of its accounts nor a block with the time of its parent', async (t) => {
  const open = (genesis: object) => {
    const db = openForWriting(temporaryDirectory(t))
    t.after(() => db.close())
    return openWritableChain(db, { genesis }, 'execute')
  }
  await assert.rejects(open(genesisOf({ development: false, stateHash })), (error) => {
    assert.ok(error instanceof InvalidGenesis)
    assert.match(error.message, /^stateHash: expected the root of alloc, 0x/)
    return true
  })
  const chain = await open(genesisOf({ development: false, stateHash: formatData(STATE_ROOT) }))
  await assert.rejects(take(chain), (error) => error instanceof InvalidBlock && error.check === 'timestamp')
})
