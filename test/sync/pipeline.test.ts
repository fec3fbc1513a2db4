import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeBlock } from '../../src/chain/eth/block.js'
import { hashHeader } from '../../src/chain/eth/header.js'
import { InvalidBlock } from '../../src/chain/eth/invalidBlock.js'
import type { Block, ConsensusReceipt } from '../../src/chain/eth/types.js'
import { UsageError } from '../../src/lib/errors.js'
import { formatData } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import { openChainRlp } from '../../src/sources/files/chainRlp.js'
import { openEra1 } from '../../src/sources/files/era1.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain, type StateMode } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { buildEra1, type EraBlock } from '../support/chains/era1File.js'
import { encodeChain, fixtureBlocks, fixtureGenesis, sourceOf } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'

const options = { progress: noProgress }

async function openFixtureChain(t: TestContext, mode: StateMode = 'execute') {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  return openWritableChain(db, { genesis: fixtureGenesis() }, mode)
}

/** Returns the block with a changed header and a recomputed hash. */
function withHeader(block: Block, change: Partial<Block['header']>): Block {
  const header = { ...block.header, ...change }
  return { ...block, header, hash: hashHeader(header) }
}

async function refusalOf(work: Promise<unknown>): Promise<InvalidBlock> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof InvalidBlock, String(error))
    return error
  }
  throw new assert.AssertionError({ message: 'nothing was refused' })
}

test('roots that the source compared already are not computed again', async (t) => {
  const chain = await openFixtureChain(t, 'execute')
  const [first, ...rest] = fixtureBlocks()
  const changed = withHeader(first, { transactionsRoot: new Uint8Array(32).fill(9) })
  const source = { kind: 'test', path: 'test', blocks: () => [{ block: changed, hasVerifiedRoots: true }] }
  await importBlocks(chain, source, options)
  assert.equal(chain.head.newest!.hash, changed.hash)
  assert.equal((await refusalOf(importBlocks(chain, sourceOf(rest), options))).check, 'parent hash')
})

test('a block with one wrong field is refused by that check, and those before it stay', async (t) => {
  const blocks = fixtureBlocks()
  const wrong = new Uint8Array(32).fill(9)
  const cases: [number, Partial<Block['header']>, string][] = [
    [9, { stateRoot: wrong }, 'state root'],
    [9, { receiptsRoot: wrong }, 'receipts root'],
    [26, { gasUsed: 21_001n }, 'gas used'],
    [34, { logsBloom: new Uint8Array(256) }, 'logs bloom'],
    [42, { requestsHash: wrong }, 'requests hash'],
    [30, { parentHash: wrong }, 'parent hash'],
    [33, { withdrawalsRoot: wrong }, 'withdrawals root'],
    [37, { excessBlobGas: 131_072n }, 'excess blob gas'],
  ]
  for (const [number, change, check] of cases) {
    const chain = await openFixtureChain(t)
    const changed = blocks.map((block) => (block.header.number === number ? withHeader(block, change) : block))
    const refusal = await refusalOf(importBlocks(chain, sourceOf(changed), options))
    assert.equal(refusal.check, check)
    assert.equal(refusal.blockNumber, number)
    assert.match(
      refusal.message,
      new RegExp(`^block ${number} \\(0x[0-9a-f]{64}\\): ${check}: expected .+, the block has .+`),
    )
    assert.equal(chain.reader.head(), number - 1)
    // The right block is taken afterwards: the refused one left nothing behind.
    const done = await importBlocks(chain, sourceOf(blocks), options)
    assert.equal(done.imported, HEAD - (number - 1))
  }
})

test('importing again skips stored blocks, from any source', async (t) => {
  const chain = await openFixtureChain(t)
  const path = join(temporaryDirectory(t), 'chain.rlp')
  writeFileSync(path, encodeChain(fixtureBlocks()))
  await importBlocks(chain, sourceOf(fixtureBlocks().slice(0, 20)), options)
  assert.deepEqual(await importBlocks(chain, openChainRlp(path), options), {
    imported: HEAD - 20,
    skipped: 20,
    interrupted: false,
  })
  assert.deepEqual(await importBlocks(chain, openChainRlp(path), options), {
    imported: 0,
    skipped: HEAD,
    interrupted: false,
  })
})

test('a file of another branch is refused even when it ends below the head', async (t) => {
  const chain = await openFixtureChain(t)
  const blocks = fixtureBlocks()
  await importBlocks(chain, sourceOf(blocks), options)
  const branch = [...blocks.slice(0, 4), withHeader(blocks[4], { extraData: Uint8Array.of(1) })]
  const path = join(temporaryDirectory(t), 'branch.rlp')
  writeFileSync(path, encodeChain(branch))
  const refusal = await refusalOf(importBlocks(chain, openChainRlp(path), options))
  assert.equal(refusal.check, 'canonical block')
  assert.equal(refusal.blockNumber, 5)
  assert.equal(refusal.expected, formatData(blocks[4].hash))
})

test('an aborted import keeps the blocks so far and resumes later', async (t) => {
  const chain = await openFixtureChain(t)
  const abort = new AbortController()
  const blocks = fixtureBlocks()
  function* interrupting() {
    for (const block of blocks) {
      if (block.header.number === 31) abort.abort()
      yield { block }
    }
  }
  const source = { kind: 'memory', path: 'memory', blocks: interrupting }
  const first = await importBlocks(chain, source, { ...options, signal: abort.signal })
  assert.deepEqual(first, { imported: 30, skipped: 0, interrupted: true })
  assert.equal(chain.reader.head(), 30)
  assert.equal((await importBlocks(chain, sourceOf(blocks), options)).imported, HEAD - 30)
})

/** Blocks [first, last] of the fixture with receipts and total difficulties, before the merge. */
async function eraBlocks(t: TestContext, first: number, last: number): Promise<EraBlock[]> {
  const chain = await openFixtureChain(t)
  await importBlocks(chain, sourceOf(fixtureBlocks().slice(0, last)), options)
  return fixtureBlocks()
    .slice(first - 1, last)
    .map((block) => {
      const stored = chain.reader.blockByNumber(block.header.number)!
      const receipts: ConsensusReceipt[] = chain.reader.receipts(stored).map(({ receipt }) => receipt)
      return { block, receipts, totalDifficulty: stored.totalDifficulty }
    })
}

test('without state, an import may start at any block and serves receipts but no state', async (t) => {
  const path = join(temporaryDirectory(t), 'part.era1')
  const era = await eraBlocks(t, 12, 29)
  writeFileSync(path, buildEra1(era))
  const chain = await openFixtureChain(t, 'none')
  const done = await importBlocks(chain, openEra1(path), options)
  assert.deepEqual(done, { imported: 18, skipped: 0, interrupted: false })
  assert.deepEqual(chain.reader.coverage(), { first: 12, head: 29, stateFirst: undefined })
  for (const { block, receipts, totalDifficulty } of era) {
    const stored = chain.reader.blockByNumber(block.header.number)!
    assert.equal(stored.totalDifficulty, totalDifficulty)
    const read = chain.reader.receipts(stored).map(({ receipt }) => ({ ...receipt }))
    assert.deepEqual(
      read.map(({ gasUsed, cumulativeGasUsed, status }) => ({ gasUsed, cumulativeGasUsed, status })),
      receipts.map(({ cumulativeGasUsed, status }, index) => ({
        gasUsed: cumulativeGasUsed - (receipts[index - 1]?.cumulativeGasUsed ?? 0n),
        cumulativeGasUsed,
        status,
      })),
    )
    assert.equal(
      formatData(
        encodeBlock({
          ...stored,
          transactions: chain.reader.transactions(stored),
          uncles: chain.reader.uncles(block.header.number),
        }),
      ),
      formatData(encodeBlock(block)),
    )
  }
})

test('without state, receipts that differ from the header are refused', async (t) => {
  const path = join(temporaryDirectory(t), 'part.era1')
  const era = await eraBlocks(t, 12, 29)
  const target = era.find(({ receipts }) => receipts.length > 0 && receipts[0].status === 1)!
  target.receipts = target.receipts.map((receipt) => ({ ...receipt, status: 0 as const }))
  writeFileSync(path, buildEra1(era))
  const chain = await openFixtureChain(t, 'none')
  const refusal = await refusalOf(importBlocks(chain, openEra1(path), options))
  assert.equal(refusal.check, 'receipts root')
  assert.equal(refusal.blockNumber, target.block.header.number)
  assert.equal(chain.reader.head(), target.block.header.number === 12 ? undefined : target.block.header.number - 1)
})

test('without state, blocks without receipts are a wrong use', async (t) => {
  const chain = await openFixtureChain(t, 'none')
  await assert.rejects(importBlocks(chain, sourceOf(fixtureBlocks()), options), UsageError)
})

test('a database keeps its chain and its state mode', async (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute')
  await assert.rejects(openWritableChain(db, { network: 'mainnet' }, 'execute'), /another genesis or network/)
  await assert.rejects(openWritableChain(db, undefined, 'none'), /begun with --state execute/)
  assert.equal((await openWritableChain(db, undefined, undefined)).spec.chainId, 20_261n)
})
