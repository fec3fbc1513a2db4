import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { auditBlocks } from '../../src/audit/blocks.js'
import { keccak256 } from '../../src/chain/crypto.js'
import { decodeBlockAccessList, encodeBlockAccessList } from '../../src/chain/eth/blockAccessList.js'
import { hashHeader } from '../../src/chain/eth/header.js'
import { formatData } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { noProgress } from '../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { runMethod } from '../../src/rpc/core/runCall.js'
import { METHODS } from '../../src/rpc/methods.js'
import type { RawBlock } from '../../src/sources/source.js'
import type { Database } from '../../src/store/database.js'
import { openForReading, packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain, type WritableChain } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { runCairnOk } from '../support/cairn.js'
import { fixtureBlocks, fixtureGenesis, sourceOf } from '../support/chains/fixture.js'
import { AMSTERDAM, HEAD } from '../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'

const BLOCKS = fixtureBlocks()

async function openChain(t: TestContext, datadir: string, blockAccessLists: boolean) {
  const db = openForWriting(datadir)
  t.after(() => db.close())
  return { db, chain: await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute', { blockAccessLists }) }
}

const importAll = (chain: WritableChain, blocks = BLOCKS) =>
  importBlocks(chain, sourceOf(blocks), { progress: noProgress })

const storedLists = (db: Database) =>
  db.prepare<[], number>('SELECT block_number FROM block_access_lists ORDER BY block_number').pluck().all()

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

async function answersOf(datadir: string, method: string, blocks: readonly number[]): Promise<string[]> {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  try {
    const answers: string[] = []
    for (const number of blocks) {
      const outcome = await runMethod(METHODS.get(method)!, [`0x${number.toString(16)}`], context)
      assert.ok('result' in outcome, JSON.stringify(outcome))
      answers.push(Buffer.from(outcome.result).toString())
    }
    return answers
  } finally {
    await close()
  }
}

test('stored access lists are those of execution, and go and come with their blocks', async (t) => {
  const [datadir, without] = [temporaryDirectory(t), temporaryDirectory(t)]
  const { db, chain } = await openChain(t, datadir, true)
  await importAll(chain)
  const other = await openChain(t, without, false)
  await importAll(other.chain)
  assert.deepEqual(storedLists(db), numbers(AMSTERDAM, HEAD))
  assert.deepEqual(storedLists(other.db), [])
  for (const method of ['eth_getBlockAccessList', 'debug_getRawBlockAccessList']) {
    const asked = numbers(AMSTERDAM - 1, HEAD)
    assert.deepEqual(await answersOf(datadir, method, asked), await answersOf(without, method, asked), method)
  }
  assert.equal(auditBlocks(db).blocks, HEAD + 1)

  chain.head.rewind(65, { byOperator: true })
  chain.head.commit()
  assert.deepEqual(storedLists(db), numbers(AMSTERDAM, 65))
  await importAll(chain)
  chain.head.rewind(62, { byOperator: true }) // a reorg: one transaction with what is appended
  await importAll(chain)
  assert.deepEqual(storedLists(db), numbers(AMSTERDAM, HEAD))
})

test('answers come from the stored list, and an audit finds one that is not the block’s', async (t) => {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openChain(t, datadir, true)
  await importAll(chain)
  db.exec(`UPDATE block_access_lists SET list = x'c0' WHERE block_number = 63`)
  assert.deepEqual(await answersOf(datadir, 'debug_getRawBlockAccessList', [63]), ['"0xc0"'])
  assert.deepEqual(await answersOf(datadir, 'eth_getBlockAccessList', [63]), ['[]'])
  assert.throws(
    () => auditBlocks(db),
    /block_access_lists, block 63: hash of the list: expected 0x\w+…?.*, found 0x1dcc/,
  )
  db.exec(`DELETE FROM block_access_lists; INSERT INTO block_access_lists VALUES (9, x'c0')`)
  assert.throws(() => auditBlocks(db), /block_access_lists, block 9: hash of the list: expected no list, found/)
  db.exec(`UPDATE block_access_lists SET block_number = 99`)
  assert.throws(() => auditBlocks(db), /block_access_lists, row 99: block: belongs to none/)
})

test('cairn import stores lists with --block-access-lists on', async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  await runCairnOk(['import', '--datadir', datadir, '--block-access-lists', 'on', packagePath('fixtures/chain')])
  const db = openForReading(datadir)
  t.after(() => db.close())
  assert.deepEqual(storedLists(db), numbers(AMSTERDAM, HEAD))
})

test('a list that is not the block’s is refused: by its first differing entry, or plainly when only its hash is known', async (t) => {
  const { chain } = await openChain(t, temporaryDirectory(t), true)
  await importAll(chain, BLOCKS.slice(0, 62))
  const right = BLOCKS[62] // block 63
  const list = await listOf(t, 63)
  const changed = list.map((access, index) =>
    index === 0 ? access : { ...access, nonceChanges: access.nonceChanges.map((each) => ({ ...each, value: 77n })) },
  )
  const given = encodeBlockAccessList(changed)
  const header = { ...right.header, blockAccessListHash: keccak256(given) }
  const block = { ...right, header, hash: hashHeader(header) }
  const refusalOf = async (raw: RawBlock) => {
    try {
      await importBlocks(chain, { kind: 'memory', path: 'memory', blocks: () => [raw] }, { progress: noProgress })
    } catch (error) {
      return (error as Error).message
    }
    return undefined
  }
  const first = list.findIndex((access, index) => index > 0 && access.nonceChanges.length > 0)
  const { address, nonceChanges } = list[first]
  assert.ok(
    (await refusalOf({ block, blockAccessList: given }))?.endsWith(
      `block access list: expected ${formatData(address)}: nonce at ${nonceChanges[0].index}: ${nonceChanges[0].value}, the block has 77`,
    ),
  )
  const hashes = `expected ${formatData(right.header.blockAccessListHash!)}, the block has ${formatData(keccak256(given))}`
  assert.ok(
    (await refusalOf({ block }))?.endsWith(
      `block access list hash: ${hashes}; the source gives no list, so that no differing entry can be named`,
    ),
  )
  assert.ok(
    (await refusalOf({ block, blockAccessList: Uint8Array.of(0xc0) }))?.endsWith(
      `block access list hash: ${hashes}; the list of the source has another hash, so that no differing entry can be named`,
    ),
  )
  assert.equal(chain.reader.head(), 62)
  await importAll(chain)
})

async function listOf(t: TestContext, blockNumber: number) {
  const { chain } = await openChain(t, temporaryDirectory(t), true)
  await importAll(chain, BLOCKS.slice(0, blockNumber))
  return decodeBlockAccessList(chain.reader.blockAccessList(blockNumber)!)
}
