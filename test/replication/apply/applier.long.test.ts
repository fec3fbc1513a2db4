import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { InvalidBlock } from '../../../src/chain/eth/invalidBlock.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { StaleEpoch, StateChangesMissing, UnknownAncestor } from '../../../src/replication/apply/errors.js'
import { verifiedElsewhere } from '../../../src/replication/apply/unitQueue.js'
import { encodeReplicatedBlock } from '../../../src/replication/codec/message.js'
import type { EncodedBlock, PositionedUnit, ReplicatedBlock } from '../../../src/replication/codec/types.js'
import { InvalidMessage } from '../../../src/replication/errors.js'
import { createBlockVerifier } from '../../../src/replication/threads/blockVerifier.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { ReorgBelowFinalized, StateRootDiffers } from '../../../src/sync/head/errors.js'
import { importFiles } from '../../../src/sync/import/importFiles.js'
import { FIXTURE_FOLDER, fixtureGenesis } from '../../support/chains/fixture.js'
import { verifyHere } from '../../support/chains/l2.js'
import { checkDatabase } from '../../support/compare/checkDatabase.js'
import { compareRows } from '../../support/compare/compareChains.js'
import {
  collectWarnings,
  encodeStored,
  openApplier,
  openHasher,
  positioned,
  readReplicated,
  settleTrie,
  unitOf,
} from '../../support/nats/replicated.js'
import { temporaryDirectory } from '../../support/temporary.js'

const chainSource = { genesis: fixtureGenesis() }
const writerDatadir = temporaryDirectory({ after })
let shared: Promise<{ datadir: string; blocks: EncodedBlock[] }> | undefined

/** The bundled chain as a writer holds it, and as it gives it to replicas. */
function openWriter(): Promise<{ datadir: string; blocks: EncodedBlock[] }> {
  shared ??= (async () => {
    const chainFile = join(FIXTURE_FOLDER, 'chain.rlp')
    const options = { datadir: writerDatadir, paths: [chainFile], chain: chainSource, stateMode: 'execute' as const }
    await importFiles({ ...options, l2Verify: verifyHere, log: silentLogger, showProgress: false })
    const db = openForReading(writerDatadir)
    const head = db.prepare<[], number>('SELECT max(number) FROM blocks').pluck().get()!
    const blocks = encodeStored(db, 1, head)
    db.close()
    return { datadir: writerDatadir, blocks }
  })()
  return shared
}

async function openEmpty(t: TestContext, options?: Parameters<typeof openApplier>[2]) {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => void (db.open && db.close()))
  return { datadir, db, ...(await openApplier(db, chainSource, options)) }
}

/** As `openEmpty`, with a thread that hashes the trie. */
async function openHashedElsewhere(t: TestContext, trieInterval: number) {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => void (db.open && db.close()))
  const hasher = openHasher(t, db)
  const { log, warnings } = collectWarnings()
  return { datadir, db, hasher, warnings, ...(await openApplier(db, chainSource, { trieInterval, hasher, log })) }
}

test('a replica of the bundled chain has the rows of its writer', async (t) => {
  const writer = await openWriter()
  const { datadir, db, applier, apply, chain } = await openEmpty(t)
  for (const each of positioned(writer.blocks.map((block) => unitOf([block])))) await apply(each)
  assert.equal(chain.head.inTransaction, true) // units share a transaction until it is committed
  applier.commit()
  await settleTrie(applier)
  db.close()
  compareRows(datadir, writer.datadir, 'replica')
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writer.datadir))
})

test('stored blocks change the position alone, and what follows them is appended', async (t) => {
  const { blocks } = await openWriter()
  const { db, applier, apply, chain } = await openEmpty(t)
  const [first, again, more] = positioned([
    unitOf(blocks.slice(0, 4)),
    unitOf(blocks.slice(1, 3)),
    unitOf(blocks.slice(2, 6)),
  ])
  await apply(first)
  applier.commit()
  const rows = () => db.prepare('SELECT count(*), max(hash) FROM blocks').raw().get()
  const before = rows()
  await apply(again)
  applier.commit()
  assert.deepEqual(rows(), before)
  assert.deepEqual(applier.position, again.position)
  await apply(more)
  applier.commit()
  assert.equal(chain.head.newest!.header.number, 6)
})

test('the position is stored with the blocks, and is there after a restart', async (t) => {
  const { blocks } = await openWriter()
  const { datadir, db, apply, applier } = await openEmpty(t)
  const [one, two] = positioned([unitOf(blocks.slice(0, 1)), unitOf(blocks.slice(1, 2))])
  await apply(one)
  applier.commit()
  await apply(two)
  db.close() // as a kill: the second unit was not committed
  const again = openForWriting(datadir)
  t.after(() => void again.close())
  const reopened = await openApplier(again, chainSource)
  assert.deepEqual(reopened.applier.position, one.position)
  assert.equal(reopened.chain.head.newest!.header.number, 1)
})

/** What is wrong with block 4 of the chain, and the check that refuses it. */
const FORGERIES: {
  name: string
  check: string
  forge(block: ReplicatedBlock, encode: typeof encodeReplicatedBlock): EncodedBlock
}[] = [
  {
    name: 'a parent that is not the head',
    check: 'parent hash',
    forge: (given, encode) => encode(withHeader(given, { parentHash: new Uint8Array(32).fill(2) })),
  },
  {
    name: 'a transaction less',
    check: 'transactions root',
    forge: (given, encode) => {
      const { block, receipts, appearances } = given
      const less = { ...block, transactions: block.transactions.slice(1) }
      return encode({ ...given, block: less, receipts: receipts.slice(1), appearances: appearances?.slice(1) })
    },
  },
  {
    name: 'a receipt with another status',
    check: 'receipts root',
    forge: (given, encode) =>
      encode({
        ...given,
        receipts: given.receipts.map((receipt) => ({ ...receipt, status: 1 - receipt.status! }) as never),
      }),
  },
  {
    name: 'more total difficulty',
    check: 'total difficulty',
    forge: (given, encode) => encode({ ...given, totalDifficulty: given.totalDifficulty + 1n }),
  },
  {
    name: 'an access list that its header does not name',
    check: 'block access list hash',
    forge: (given, encode) => encode({ ...given, blockAccessList: Uint8Array.of(0xc0) }),
  },
]

function withHeader(given: ReplicatedBlock, fields: Partial<ReplicatedBlock['block']['header']>): ReplicatedBlock {
  const header = { ...given.block.header, ...fields }
  return { ...given, block: { ...given.block, header, hash: hashHeader(header) } }
}

/** The first block with a transaction, so that each forgery changes something. */
async function readForged(forge: (typeof FORGERIES)[0]['forge']) {
  const { datadir, blocks } = await openWriter()
  const db = openForReading(datadir)
  try {
    const number = db.prepare<[], number>('SELECT min(number) FROM blocks WHERE n_logs > 0').pluck().get()!
    return { number, blocks, forged: forge(readReplicated(db, number), encodeReplicatedBlock) }
  } finally {
    db.close()
  }
}

for (const { name, check, forge } of FORGERIES) {
  test(`a block with ${name} is refused, and what came before it stays`, async (t) => {
    const { number, blocks, forged } = await readForged(forge)
    const { apply, applier, chain } = await openEmpty(t)
    const [before, wrong, right] = positioned([
      unitOf(blocks.slice(0, number - 1)),
      unitOf([forged]),
      unitOf(blocks.slice(number - 1, number)),
    ])
    await apply(before)
    await assert.rejects(apply(wrong), (error) => error instanceof InvalidBlock && error.check === check)
    assert.equal(chain.head.inTransaction, false)
    assert.equal(chain.reader.head(), number - 1)
    assert.deepEqual(applier.position, before.position)
    await apply(right)
    applier.commit()
    assert.equal(chain.reader.head(), number)
  })
}

test('a block under another hash, and damaged bytes, are refused', async (t) => {
  const { blocks } = await openWriter()
  const { apply, chain } = await openEmpty(t)
  const [first] = blocks
  const forged = [
    { ...first, hash: new Uint8Array(32).fill(1) },
    { ...first, parentHash: new Uint8Array(32).fill(1) },
    { ...first, payload: first.payload.subarray(0, -5) },
  ]
  for (const each of positioned(forged.map((block) => unitOf([block]))))
    await assert.rejects(apply(each), InvalidMessage)
  assert.equal(chain.reader.head(), 0)
})

test('a block that leaves out its predecessor is refused', async (t) => {
  const { blocks } = await openWriter()
  const { apply } = await openEmpty(t)
  const [gap] = positioned([unitOf(blocks.slice(1, 2))])
  await assert.rejects(apply(gap), (error) => error instanceof InvalidBlock && error.check === 'number')
})

test('a block that is written while another thread verifies it is taken back when it is not right', async (t) => {
  const { number, blocks, forged } = await readForged(FORGERIES.find(({ check }) => check === 'receipts root')!.forge)
  const { applier, apply, chain } = await openEmpty(t)
  const verifier = createBlockVerifier(chainSource)
  t.after(() => verifier.close())
  const applyElsewhere = async (each: PositionedUnit) => {
    const encoded = each.unit.kind === 'blocks' ? each.unit.blocks : []
    const blocksToApply = encoded.map((block) => verifiedElsewhere(verifier.verify(block), block, chain.spec))
    await applier.apply({ ...each, blocks: blocksToApply })
    applier.commit()
  }
  const [before, wrong, right, again] = positioned([
    unitOf(blocks.slice(0, number - 1)),
    unitOf([forged]),
    unitOf([blocks[number - 1]]),
    unitOf([blocks[number]]),
  ])
  await apply(before)
  applier.commit()
  await assert.rejects(applyElsewhere(wrong), (error: unknown) => {
    return error instanceof InvalidBlock && error.check === 'receipts root'
  })
  assert.deepEqual(applier.position, before.position)
  assert.equal(chain.head.newest!.header.number, number - 1)
  assert.equal(chain.head.inTransaction, false)
  for (const each of [right, again]) await applyElsewhere(each)
  await settleTrie(applier)
  assert.equal(chain.head.newest!.header.number, number + 1)
})

test('a change set with a refused block leaves nothing', async (t) => {
  const { blocks } = await openWriter()
  const { apply, chain } = await openEmpty(t)
  const [unit] = positioned([unitOf([blocks[0], blocks[1], blocks[3]])])
  await assert.rejects(apply(unit), InvalidBlock)
  assert.equal(chain.reader.head(), 0)
})

const raiseBalance: (typeof FORGERIES)[0]['forge'] = (given, encode) => {
  const [account, ...others] = given.changes!.accounts
  const raised = { ...account, account: { ...account.account!, balance: account.account!.balance + 1n } }
  return encode({ ...given, changes: { ...given.changes!, accounts: [raised, ...others] } })
}

test('a false balance is an alarm that names the blocks, and a rewind before them settles it', async (t) => {
  const { number, blocks, forged } = await readForged(raiseBalance)
  const { apply, applier, chain } = await openEmpty(t)
  const [before, wrong, after] = positioned([
    unitOf(blocks.slice(0, number - 2)),
    unitOf([blocks[number - 2], forged]),
    unitOf(blocks.slice(number - 2)),
  ])
  await apply(before)
  await settleTrie(applier)
  await apply(wrong)
  applier.commit()
  const differs = (error: unknown) =>
    error instanceof StateRootDiffers &&
    error.from >= number - 1 &&
    error.to === number &&
    /rewind --to/.test(error.message)
  await assert.rejects(settleTrie(applier), differs)
  await assert.rejects(settleTrie(applier), differs) // nothing of it was kept
  chain.head.rewind(number - 2, { byOperator: true })
  applier.commit()
  await apply(after)
  await settleTrie(applier)
  assert.equal(chain.trie!.block.number, chain.head.newest!.header.number)
})

test('a false balance that comes while catching up is refused with its transaction', async (t) => {
  const { number, blocks, forged } = await readForged(raiseBalance)
  const { apply, applier, chain } = await openEmpty(t, { trieInterval: 1 })
  const [before, wrong] = positioned([unitOf(blocks.slice(0, number - 1)), unitOf([forged])])
  await apply(before)
  applier.commit()
  await assert.rejects(apply(wrong), StateRootDiffers)
  assert.equal(chain.reader.head(), number - 1)
  assert.deepEqual(applier.position, before.position)
})

test('far behind, another thread hashes the trie of every few blocks, which ends as that of the writer', async (t) => {
  const writer = await openWriter()
  const { datadir, db, apply, applier, chain, warnings } = await openHashedElsewhere(t, 7)
  const found = new Set<number>()
  const units = positioned(writer.blocks.map((block) => unitOf([block])))
  for (const each of units.slice(0, 12)) {
    await apply(each)
    applier.commit()
    await settleTrie(applier) // a layer for each block
  }
  for (const each of units.slice(12)) {
    await apply(each, { isBehind: true })
    found.add(chain.trie!.block.number)
    if (each.position.sequence % 20 === 0) await applier.workOnTrie()
  }
  await settleTrie(applier)
  found.add(chain.trie!.block.number)
  assert.ok(found.size > 2 && found.size < writer.blocks.length, [...found].join())
  assert.equal(chain.trie!.block.number, chain.head.newest!.header.number)
  assert.deepEqual(warnings, [])
  db.close()
  compareRows(datadir, writer.datadir, 'replica')
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writer.datadir))
})

test('a false account that was committed while far behind is found with the next root, and a rewind settles it', async (t) => {
  const { number, blocks, forged } = await readForged((given, encode) => {
    const account = { address: new Uint8Array(20).fill(0xee), incarnation: 0, account: { nonce: 0n, balance: 1n } }
    return encode({ ...given, changes: { ...given.changes!, accounts: [...given.changes!.accounts, account] } })
  })
  const { apply, applier, chain } = await openHashedElsewhere(t, 1_000)
  const isBehind = true
  const [before, wrong] = positioned([unitOf(blocks.slice(0, number - 1)), unitOf([forged])])
  await apply(before)
  await settleTrie(applier)
  await apply(wrong, { isBehind })
  applier.commit()
  assert.equal(chain.trie!.block.number, number - 1)
  const later = positioned(
    blocks.slice(number, number + 2).map((block) => unitOf([block])),
    3,
  )
  for (const each of later) await apply(each, { isBehind })
  await assert.rejects(
    settleTrie(applier),
    (error: unknown) => error instanceof StateRootDiffers && error.from === number,
  )
  assert.equal(chain.reader.head(), number + 2)
  chain.head.rewind(number - 1, { byOperator: true })
  applier.commit()
  const right = positioned(
    blocks.slice(number - 1).map((block) => unitOf([block])),
    5,
  )
  for (const each of right) await apply(each, { isBehind })
  await settleTrie(applier)
  assert.equal(chain.trie!.block.number, chain.head.newest!.header.number)
})

test('a thread that dies while it hashes leaves the trie to the rows, and is started again', async (t) => {
  const writer = await openWriter()
  const { datadir, db, apply, applier, chain, hasher } = await openHashedElsewhere(t, 5)
  const units = positioned(writer.blocks.map((block) => unitOf([block])))
  for (const each of units.slice(0, 20)) await apply(each, { isBehind: true })
  await hasher.close()
  for (const each of units.slice(20, 40)) await apply(each, { isBehind: true })
  applier.commit()
  for (const each of units.slice(40)) await apply(each, { isBehind: true })
  await settleTrie(applier)
  assert.equal(chain.trie!.block.number, chain.head.newest!.header.number)
  db.close()
  compareRows(datadir, writer.datadir, 'replica')
})

test('a reorg whose ancestor is not on the chain, or which goes below the finalized block, is refused', async (t) => {
  const { blocks } = await openWriter()
  const { apply, applier, chain } = await openEmpty(t)
  const ref = (number: number) => ({ number, hash: blocks[number - 1].hash })
  const [before, unknown, deep, rewind] = positioned([
    unitOf(blocks.slice(0, 8), undefined, { safe: 6, finalized: 5 }),
    unitOf([], { number: 7, hash: new Uint8Array(32).fill(7) }),
    unitOf([], ref(4)),
    unitOf([], ref(5)),
  ])
  await apply(before)
  await assert.rejects(apply(unknown), UnknownAncestor)
  assert.deepEqual(chain.head.finality(), { safe: 6, finalized: 5 })
  await assert.rejects(apply(deep), ReorgBelowFinalized)
  assert.equal(chain.reader.head(), 8)
  assert.deepEqual(applier.position, before.position)
  await apply(rewind)
  assert.equal(chain.reader.head(), 5)
  assert.deepEqual(chain.head.finality(), { safe: 5, finalized: 5 })
  assert.deepEqual(applier.position, rewind.position)
})

test('a message of an earlier epoch is refused', async (t) => {
  const { blocks } = await openWriter()
  const { apply, applier } = await openEmpty(t)
  const head = { number: 0, hash: blocks[0].parentHash }
  const [taken] = positioned([{ kind: 'epoch', epoch: 3, head }], 1, 3)
  const [stale] = positioned([unitOf(blocks.slice(0, 1))], 2, 2)
  await apply(taken)
  applier.commit()
  assert.equal(applier.position?.epoch, 3)
  await assert.rejects(apply(stale), StaleEpoch)
})

test('a replica that keeps state refuses blocks of a writer that keeps none', async (t) => {
  const { forged } = await readForged((given, encode) => encode({ ...given, changes: undefined }))
  const { apply } = await openEmpty(t)
  const { blocks } = await openWriter()
  const [before, wrong] = positioned([unitOf(blocks.slice(0, forged.number - 1)), unitOf([forged])])
  await apply(before)
  await assert.rejects(apply(wrong), StateChangesMissing)
})
