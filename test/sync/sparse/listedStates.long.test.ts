import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { auditSparseState } from '../../../src/audit/sparseState.js'
import { concatBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import type { EthRpc } from '../../../src/sources/ethRpc/types.js'
import type { Database } from '../../../src/store/database.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import type { ChainReader } from '../../../src/store/rows/types.js'
import { MissingState } from '../../../src/store/state/missingState.js'
import { createStateReads } from '../../../src/store/state/stateReader.js'
import { createBlockAppender } from '../../../src/sync/blockAppender.js'
import { openWritableChain, type WritableChain } from '../../../src/sync/chainState.js'
import { createUpstreamSource, type StateFetchMode } from '../../../src/sync/sparse/stateSource.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { CHAIN_ID, SYSTEM_ACCOUNTS } from '../../../tools/fixture/genesis.js'
import { type GrowingChain, growRandomChain } from '../../../tools/fuzz-chain/buildChain.js'
import { createForkGenesis } from '../../support/chains/forkGenesis.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { openStateServer, type StateServer } from '../../support/sparse/stateServer.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

/* Sparse state over random chains of Amsterdam blocks: some are executed, the states of others come from their access
 * lists, and reorgs end anywhere. What is known at any height is what a complete state has. */

const SEEDS = THOROUGH ? 30 : 1
const TAIL = THOROUGH ? 40 : 25
const ROUNDS = THOROUGH ? 4 : 3

for (let seed = 1; seed <= SEEDS; seed++) {
  const mode = (['proofs', 'witness', 'auto'] as const)[seed % 3]
  test(`listed and executed blocks of the random chain of seed ${seed}, by ${mode}`, async (t) => {
    const random = seededRandom(seed)
    const grown = await growRandomChain(seed, { tail: TAIL })
    t.after(() => grown.close())
    await grown.add()
    const run = await openRun(t, grown, { mode, keepsLists: seed % 2 === 0 })
    const begin = grown.last - TAIL + 1
    await run.follow(begin, begin + 3)
    let [known, unknown] = [0, 0]
    for (let round = 0; round < ROUNDS; round++) {
      const head = run.head()
      const left = grown.last - head
      const listed = 1 + random.below(Math.max(1, Math.floor(left / 2)))
      if (left > listed) {
        await run.list(head + 1, head + listed)
        await run.follow(head + listed + 1, head + listed + 1 + random.below(left - listed))
      }
      const compared = run.compare(random)
      known += compared.known
      unknown += compared.unknown
      run.audit()
      if (round === ROUNDS - 1) break
      // Another branch from a block that was listed, or executed before or after such ones.
      const depth = 1 + random.below(run.head() - begin)
      const ancestor = run.head() - depth
      grown.rewind(grown.head - ancestor)
      await grown.add()
      run.rewind(ancestor)
      run.compare(random)
    }
    t.diagnostic(`${known} values known, ${unknown} not`)
    assert.ok(known > 4 * unknown, 'most are known')
  })
}

test('an account without any value that a listed block touches, which its list does not name, is removed', async (t) => {
  const datadir = temporaryDirectory(t)
  const building = openForWriting(datadir)
  const [sender, empty] = [createSender('listed states'), padLeft(Uint8Array.of(0xe0, 1), 20)]
  const genesis = createForkGenesis('amsterdam', {
    ...SYSTEM_ACCOUNTS,
    [formatData(sender.address)]: { balance: '0xd3c21bcecceda1000000' },
    [formatData(empty)]: { balance: '0x0' },
  }) as { config: { chainId: number } }
  genesis.config.chainId = Number(CHAIN_ID)
  const builder = await createChainBuilder(building, genesis)
  const touch = { transactions: [{ sender, to: empty, value: 0n }] }
  for (const plan of [{}, {}, touch, {}, touch, {}]) await builder.add(plan)
  building.close()
  // Its base value is proved before its removal, or after it.
  for (const listed of [2, 3, 4]) {
    const run = await openRun(t, { datadir, genesis: JSON.stringify(genesis) }, { mode: 'proofs', keepsLists: true })
    await run.follow(0, listed === 2 ? 0 : 1)
    await run.list(run.head() + 1, listed)
    await run.follow(listed + 1, 6)
    run.audit()
    run.rewind(1)
    await run.follow(2, 6)
    run.audit(1)
    run.compare(seededRandom(listed))
  }
})

/** A database with sparse state beside the complete one. */
interface Run {
  head(): number
  /** Executes blocks; the first one of all is begun at. */
  follow(from: number, to: number): Promise<void>
  /** Stores blocks whose states come from their access lists. */
  list(from: number, to: number): Promise<void>
  rewind(to: number): void
  /** Audits the state; blocks up to `from` may have been executed before the trie was begun again. */
  audit(from?: number): void
  /** Compares everything that blocks touched at all heights, fetching what is not known at first. */
  compare(random: SeededRandom): { known: number; unknown: number }
}

async function openRun(
  t: TestContext,
  { datadir, genesis }: Pick<GrowingChain, 'datadir' | 'genesis'>,
  { mode, keepsLists }: { mode: StateFetchMode; keepsLists: boolean },
): Promise<Run> {
  const source = openForReading(datadir)
  const server = await openStateServer(t, datadir)
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => {
    source.close()
    db.close()
  })
  const options = { blockAccessLists: keepsLists }
  const chain = await openWritableChain(db, { genesis: JSON.parse(genesis) }, 'sparse', options)
  chain.sparse!.connect(createUpstreamSource(server as unknown as EthRpc, { mode }))
  const reader = () => createChainReader(source)
  const take = async (from: number, to: number) => {
    for (let number = from; number <= to; number++) await takeBlock(chain, reader(), number)
  }
  return {
    head: () => chain.head.newest!.header.number,
    follow: take,
    list: async (from, to) => {
      chain.sparse!.listing.begin(to)
      await take(from, to)
      assert.equal(chain.sparse!.listing.isActive, false)
      assert.equal(chain.sparse!.listing.last, to)
    },
    rewind: (to) => {
      chain.head.rewind(to, { byOperator: true })
      chain.head.commit()
    },
    audit: (from = 0) => {
      const head = chain.head.newest!.header.number
      const { stateFirst, listedStates = [] } = chain.reader.coverage()!
      const { blocks, unaudited, listed, compared } = auditSparseState(db)
      const lowest = listedStates.at(-1)?.last ?? stateFirst!
      const begun = Math.max(from, lowest)
      assert.deepEqual({ blocks, unaudited }, { blocks: head - begun, unaudited: begun - lowest })
      assert.equal(
        listed,
        listedStates.reduce((sum, { first, last }) => sum + last - first + 1, 0),
      )
      assert.equal(compared, keepsLists ? listed : 0)
    },
    compare: (random) => compareAll({ own: db, complete: source, chain, server }, random),
  }
}

async function takeBlock(chain: WritableChain, reader: ChainReader, number: number): Promise<void> {
  const stored = reader.blockByNumber(number)!
  const { hash, header, sizeBytes, withdrawals, totalDifficulty } = stored
  const isFirst = chain.head.newest === undefined
  if (isFirst) {
    const before = Array.from({ length: Math.min(number, 256) }, (_, i) => reader.blockHash(number - 1 - i)!)
    chain.sparse!.setAncestors(concatBytes(...before))
  }
  const receipts = reader.receipts(stored).map(({ receipt }) => receipt)
  const block = { hash, header, sizeBytes, withdrawals, transactions: reader.transactions(stored), uncles: [] }
  const appender = createBlockAppender(chain)
  await appender.take({ block, receipts, ...(isFirst && { totalDifficulty }) }, 1)
  await appender.flush()
  chain.head.commit()
}

interface Databases {
  readonly own: Database
  readonly complete: Database
  readonly chain: WritableChain
  readonly server: StateServer
}

function compareAll({ own, complete, chain }: Databases, random: SeededRandom): { known: number; unknown: number } {
  const [ours, wanted] = [own, complete].map(createStateReads)
  const { stateFirst, head } = chain.reader.coverage()!
  const keys = own
    .prepare<[], { address: Uint8Array; slot: Uint8Array | null }>(
      `SELECT DISTINCT a.address, NULL AS slot FROM account_history h JOIN addresses a ON a.id = h.address_id
       UNION ALL SELECT DISTINCT a.address, h.slot FROM storage_history h JOIN addresses a ON a.id = h.address_id`,
    )
    .all()
  const count = { known: 0, unknown: 0 }
  for (const { address, slot } of keys) {
    if (random.below(2) === 0) continue
    for (let number = stateFirst!; number <= head; number++) {
      const read = (reads: typeof ours) =>
        slot === null
          ? `${reads.balance(address, number)} ${reads.nonce(address, number)} ${formatData(reads.code(address, number))}`
          : formatData(reads.storage(address, padLeft(slot, 32), number))
      try {
        const found = read(ours)
        assert.equal(found, read(wanted), `${formatData(address)} ${slot && formatData(slot)} at ${number}`)
        count.known++
      } catch (error) {
        if (!(error instanceof MissingState)) throw error
        count.unknown++
      }
    }
  }
  return count
}
