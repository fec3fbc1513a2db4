import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashHeader } from '../../src/chain/eth/header.js'
import { InvalidBlock } from '../../src/chain/eth/invalidBlock.js'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import { type BlockSource, SourceError } from '../../src/sources/source.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { chooseRootInterval } from '../../src/sync/rootInterval.js'
import { fixtureBlocks, fixtureGenesis, sourceOf } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { checkDatabase, digestDatabase } from '../support/compare/checkDatabase.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The state root checked every k blocks: what is stored and what is refused is the same as with every block. */

const blocks = fixtureBlocks()
const WRONG = new Uint8Array(32).fill(9)

async function openChain(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => db.close())
  return { datadir, chain: await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute') }
}

test('the interval fits the size of the state and what is to come, unless it is said', () => {
  assert.equal(chooseRootInterval(0, 249_999, Number.POSITIVE_INFINITY), 1)
  assert.equal(chooseRootInterval(0, 250_000, Number.POSITIVE_INFINITY), 64)
  assert.equal(chooseRootInterval(0, 250_000, 64), 64)
  assert.equal(chooseRootInterval(0, 5_000_000, 63), 1)
  assert.equal(chooseRootInterval(1, 5_000_000, 1000), 1)
  assert.equal(chooseRootInterval(7, 10, 2), 7)
})

/** The blocks with changed headers, each on top of the one before. */
function relink(change: (block: Block) => Partial<Block['header']>): Block[] {
  let parent: Block | undefined
  return blocks.map((block) => {
    const parentHash = parent?.hash ?? block.header.parentHash
    const header = { ...block.header, parentHash, ...change(block) }
    parent = { ...block, header, hash: hashHeader(header) }
    return parent
  })
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof InvalidBlock, String((error as Error).stack))
    return `${error.blockNumber} ${error.check}`
  }
  return 'nothing'
}

test('an import stores the same for every interval', async (t) => {
  const stored = []
  for (const rootInterval of [1, 2, 7, 64, 1000]) {
    const { datadir, chain } = await openChain(t)
    await importBlocks(chain, sourceOf(blocks), { progress: noProgress, rootInterval })
    stored.push([checkDatabase(datadir), digestDatabase(datadir)])
  }
  for (const each of stored) assert.deepEqual(each, stored[0])
})

test('from some block on all roots are wrong: the first of them is refused, and those before it stay', async (t) => {
  const random = seededRandom(5)
  // From Byzantium on: before, receipts hold the roots of all transactions.
  for (let round = 0; round < 12; round++) {
    const first = 14 + random.below(46)
    const rootInterval = [3, 10, 64][round % 3]
    const { datadir, chain } = await openChain(t)
    const wrong = relink(({ header }) => (header.number >= first ? { stateRoot: WRONG } : {}))
    // Signatures and receipts do not depend on roots, so that only the root is wrong.
    const options = { progress: noProgress, rootInterval }
    assert.equal(await refusal(importBlocks(chain, sourceOf(wrong), options)), `${first} state root`)
    assert.equal(checkDatabase(datadir)?.number, first - 1)
    await importBlocks(chain, sourceOf(blocks), options)
    assert.equal(checkDatabase(datadir)?.number, HEAD)
  }
})

test('a block is refused for what is wrong with one before it whose root was not compared yet', async (t) => {
  const cases: [string, Block[], string][] = [
    ['a header that was changed alone', blocks.map((block) => withRoot(block, 33)), '33 state root'],
    ['another check fails later', relink(({ header: { number } }) => wrongLater(number)), '33 state root'],
    [
      'only another check fails',
      relink(({ header: { number } }) => (number === 37 ? { gasUsed: 1n } : {})),
      '37 gas used',
    ],
  ]
  for (const [name, wrong, wanted] of cases) {
    const { datadir, chain } = await openChain(t)
    const options = { progress: noProgress, rootInterval: 1000 }
    assert.equal(await refusal(importBlocks(chain, sourceOf(wrong), options)), wanted, name)
    assert.equal(`${checkDatabase(datadir)!.number + 1}`, wanted.split(' ')[0], name)
  }
})

function withRoot(block: Block, number: number): Block {
  if (block.header.number !== number) return block
  const header = { ...block.header, stateRoot: WRONG }
  return { ...block, header, hash: hashHeader(header) }
}

function wrongLater(number: number): Partial<Block['header']> {
  if (number === 33) return { stateRoot: WRONG }
  return number === 36 ? { receiptsRoot: WRONG } : {}
}

test('an interrupted import and a source that ends badly keep what is right of the blocks so far', async (t) => {
  const ending = (list: readonly Block[], last: number, end: () => void): BlockSource => ({
    kind: 'memory',
    path: 'memory',
    *blocks() {
      for (const block of list) {
        if (block.header.number > last) end()
        yield { block }
      }
    },
  })
  const fail = () => {
    throw new SourceError({ path: 'memory', offset: 0, problem: 'cut off' })
  }
  const abort = new AbortController()
  const interrupted = await openChain(t)
  const options = { progress: noProgress, rootInterval: 1000 }
  const stopping = ending(blocks, 40, () => abort.abort())
  await importBlocks(interrupted.chain, stopping, { ...options, signal: abort.signal })
  assert.equal(checkDatabase(interrupted.datadir)?.number, 40)
  await assert.rejects(importBlocks(interrupted.chain, ending(blocks, 50, fail), options), SourceError)
  assert.equal(checkDatabase(interrupted.datadir)?.number, 50)
  const wrong = relink(({ header }) => (header.number >= 55 ? { stateRoot: WRONG } : {}))
  const last = ending(wrong.slice(50), 57, fail)
  assert.equal(await refusal(importBlocks(interrupted.chain, last, options)), '55 state root')
  assert.equal(checkDatabase(interrupted.datadir)?.number, 54)
  assert.equal(formatData(interrupted.chain.reader.blockHash(54)!), formatData(blocks[53].hash))
})

test('a chain that is opened again resumes with the stored trie, and rebuilds a missing one', async (t) => {
  const datadir = temporaryDirectory(t)
  const opened = async () => {
    const db = openForWriting(datadir)
    const labels: string[] = []
    const startProgress = (label: string) => {
      labels.push(label)
      return noProgress
    }
    const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute', { startProgress })
    return { db, chain, labels }
  }
  for (const [from, to, forget] of [
    [0, 20, ''],
    [20, 30, ''],
    [30, 45, "DELETE FROM meta WHERE key = 'state_trie'; DELETE FROM state_trie_pages"],
    [45, 50, "UPDATE meta SET value = json_set(value, '$.root', '0x00') WHERE key = 'state_trie'"],
  ] as const) {
    const first = await opened()
    first.db.exec(forget || 'SELECT 1')
    first.db.close()
    const { db, chain, labels } = await opened()
    assert.deepEqual(labels, forget === '' ? [] : ['state trie'])
    await importBlocks(chain, sourceOf(blocks.slice(from, to)), { progress: noProgress })
    db.close()
    assert.equal(checkDatabase(datadir)?.number, to)
  }
  // Blocks that are removed take their state out of the trie.
  const { db, chain } = await opened()
  chain.head.rewind(25, { byOperator: true })
  chain.head.commit()
  db.close()
  const { db: rewound, chain: again, labels } = await opened()
  assert.deepEqual(labels, [])
  await importBlocks(again, sourceOf(blocks), { progress: noProgress })
  rewound.close()
  assert.equal(checkDatabase(datadir)?.number, HEAD)
})
