import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { auditBlocks } from '../../src/audit/blocks.js'
import { auditState } from '../../src/audit/state.js'
import { auditStateTrie } from '../../src/audit/stateTrie.js'
import { encodeBlock } from '../../src/chain/eth/block.js'
import { EMPTY_REQUESTS_HASH, EMPTY_UNCLES_HASH } from '../../src/chain/eth/emptyHashes.js'
import { InvalidGenesis, parseGenesis } from '../../src/chain/eth/genesis.js'
import { hashHeader } from '../../src/chain/eth/header.js'
import { InvalidBlock } from '../../src/chain/eth/invalidBlock.js'
import { EMPTY_TRIE_ROOT } from '../../src/chain/eth/trie.js'
import type { Block, Header } from '../../src/chain/eth/types.js'
import { EVM_KINDS } from '../../src/evm/kinds.js'
import { createPastTries } from '../../src/evm/state/pastTries.js'
import { noDeadline } from '../../src/lib/deadline.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { readVerification } from '../../src/store/rows/chainSource.js'
import { createStateReader } from '../../src/store/state/stateReader.js'
import { createBlockAppender } from '../../src/sync/blockAppender.js'
import { type OpenChainOptions, openWritableChain, type WritableChain } from '../../src/sync/chainState.js'
import { StateRootDiffers } from '../../src/sync/head/errors.js'
import { hashAccounts } from '../../src/trie/stateRoot.js'
import { keepLog } from '../support/chains/rightChain.js'
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
  await createBlockAppender(chain).take({ block: childOf(chain.head.newest!, fields) }, 1)
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

const WRONG: Partial<Header> = { stateRoot: new Uint8Array(32).fill(7) }

function openDevelopment(t: TestContext, datadir: string, options: OpenChainOptions = {}) {
  const db = openForWriting(datadir)
  t.after(() => db.close())
  return openWritableChain(db, { genesis: genesisOf({ stateHash }) }, 'execute', options).then((chain) => ({
    db,
    chain,
  }))
}

for (const interval of [1, 3, 1000]) {
  test(`from the first wrong state root of a development node on no root is compared, checked every ${interval} blocks`, async (t) => {
    const datadir = temporaryDirectory(t)
    const { log, lines } = keepLog()
    const { db, chain } = await openDevelopment(t, datadir, { acceptsWrongRoots: true, log })
    const { head, reader } = chain
    head.finalize({ safe: 0, finalized: 0 })
    const takeAll = async (fields: readonly Partial<Header>[]) => {
      const appender = createBlockAppender(chain)
      for (const each of fields) await appender.take({ block: childOf(head.newest!, each) }, interval)
      await appender.flush()
      head.commit()
    }
    await takeAll([{}, {}, WRONG, WRONG, WRONG])
    const reported = { verified: false, unverifiedFrom: 3 }
    assert.deepEqual(readVerification(db, reader), reported)
    assert.deepEqual(
      [2, 3, 5].map((number) => reader.commitsToState(number)),
      [true, false, false],
    )
    const warnings = lines.filter(({ message }) => /state root of the development node is wrong/.test(message))
    assert.deepEqual(
      warnings.map(({ fields }) => [fields.block, fields.from]),
      [[3, 3]],
    )
    await takeAll([{}, WRONG]) // a right one does not change it
    await assert.rejects(takeAll([{ timestamp: 99n }]), { check: 'timestamp' })
    await assert.rejects(takeAll([{ ...WRONG, gasUsed: 1n }]), { check: 'gas used' })
    head.rollback()
    assert.equal(head.newest!.header.number, 7)
    const tries = createPastTries(db, { chain: reader, reader: createStateReader(db) })
    for (let number = 0; number <= 7; number++) {
      const root = tries.after(reader.blockByNumber(number)!, noDeadline).root()
      assert.deepEqual(root, STATE_ROOT)
    }
    const state = auditState(db)
    assert.deepEqual([state.blocks, state.uncompared], [8, 6])
    assert.ok(auditStateTrie(db, { ofRows: state.newest })! > 0)
    head.rewind(4)
    head.commit()
    assert.deepEqual(readVerification(db, reader), reported)
    head.rewind(2)
    head.rollback()
    assert.deepEqual(readVerification(db, reader), reported)
    head.rewind(2)
    head.commit()
    assert.deepEqual(readVerification(db, reader), { verified: true, unverifiedFrom: null })
    await takeAll([{}, WRONG])
    assert.deepEqual(readVerification(db, reader), { verified: false, unverifiedFrom: 4 })
    db.close()
    const again = await openDevelopment(t, datadir)
    await take(again.chain, WRONG)
    again.chain.head.rewind(3)
    await assert.rejects(take(again.chain, WRONG), { check: 'state root' }) // without the option, as with --strict
  })
}

test('the wrong root of a development node is accepted where blocks come with their state changes', async (t) => {
  const changes = { accounts: [], storage: [], codes: [] }
  const append = ({ head }: WritableChain, fields?: Partial<Header>) => {
    const block = childOf(head.newest!, fields)
    head.append(block, { receipts: [], totalDifficulty: 0n, changes, appearances: [] })
    head.flush()
  }
  const open = async (acceptsWrongRoots: boolean) => {
    const { db, chain } = await openDevelopment(t, temporaryDirectory(t), { lazyTrie: true, acceptsWrongRoots })
    append(chain)
    chain.trie!.advance(1)
    for (let i = 0; i < 3; i++) append(chain, WRONG)
    return { db, chain }
  }
  const { db, chain } = await open(true)
  chain.trie!.advance(3)
  chain.trie!.advance(4)
  chain.head.commit()
  assert.deepEqual(readVerification(db, createChainReader(db)), { verified: false, unverifiedFrom: 2 })
  const { chain: strict } = await open(false)
  assert.throws(() => strict.trie!.advance(4), StateRootDiffers)
  strict.head.rollback()
})

test('the wrong root of any other chain is refused', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const { config, ...members } = genesisOf({ development: false, stateHash: formatData(STATE_ROOT) })
  const { pragueTime: _prague, osakaTime: _osaka, blobSchedule: _blobs, ...cancun } = config // needs no system contracts
  const chain = await openWritableChain(db, { genesis: { config: cancun, ...members } }, 'execute', {
    acceptsWrongRoots: true,
  })
  const fields = { timestamp: 1000n, baseFeePerGas: 875_000_000n, requestsHash: undefined }
  await assert.rejects(take(chain, { ...fields, ...WRONG }), { check: 'state root' })
  await take(chain, fields)
})
