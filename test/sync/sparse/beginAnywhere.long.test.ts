import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { auditSparseState } from '../../../src/audit/sparseState.js'
import { concatBytes, equalBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import type { EthRpc } from '../../../src/sources/ethRpc/types.js'
import type { Database } from '../../../src/store/database.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import type { ChainReader } from '../../../src/store/rows/types.js'
import { createStateReads } from '../../../src/store/state/stateReader.js'
import { createBlockAppender } from '../../../src/sync/blockAppender.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { canBeginSparse } from '../../../src/sync/sparse/beginState.js'
import { createUpstreamSource, type StateFetchMode } from '../../../src/sync/sparse/stateSource.js'
import { assemble } from '../../../tools/fixture/assembler.js'
import {
  type BlockPlan,
  type ChainBuilder,
  createChainBuilder,
  createSender,
  type Sender,
} from '../../../tools/fixture/chainBuilder.js'
import { CHAIN_ID, SYSTEM_ACCOUNTS } from '../../../tools/fixture/genesis.js'
import { authorize, deploy } from '../../../tools/fixture/plans.js'
import { growRandomChain } from '../../../tools/fuzz-chain/buildChain.js'
import { createForkGenesis } from '../../support/chains/forkGenesis.js'
import { openStateServer, type StateServer } from '../../support/sparse/stateServer.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

/* Sparse state that begins at each block of a chain, those before and at every fork included, and follows to the head:
 * every root is that of the header, every value that is known is that of the complete state at every height. */

const SEEDS = THOROUGH ? [1, 2, 3, 4, 5, 6] : [1]
const MODES: readonly StateFetchMode[] = ['proofs', 'witness']

for (const seed of SEEDS) {
  for (const mode of MODES) {
    test(`begins at each block since Cancun of the random chain of seed ${seed}, by ${mode}`, async (t) => {
      const chain = await growRandomChain(seed)
      t.after(() => chain.close())
      await chain.add()
      await beginEverywhere(t, { datadir: chain.datadir, genesis: JSON.parse(chain.genesis), mode })
    })
  }
}

for (const mode of MODES) {
  test(`begins before and at each change of a kind, by ${mode}`, async (t) => {
    const datadir = temporaryDirectory(t)
    const db = openForWriting(datadir)
    const [sender, authority] = ['begin anywhere', 'begin anywhere: authority'].map(createSender)
    const genesis = changesGenesis({ sender, authority })
    const builder = await createChainBuilder(db, genesis)
    for (let span = 0; span < FORKS.length; span++) await addChanges(builder, { sender, authority }, span)
    const state = createStateReads(db)
    const codes = builder.blocks.map(({ header }) => state.code(authority.address, header.number).length)
    assert.equal(codes.filter((bytes) => bytes === DELEGATION_BYTES).length, FORKS.length - 1)
    db.close()
    await beginEverywhere(t, { datadir, genesis, mode })
  })
}

const FORKS = ['cancun', 'prague', 'osaka', 'amsterdam'] as const
// EIP-7702.
const DELEGATION_BYTES = 23
// Blocks of a fork, 10 seconds apart.
const SPAN = 6
const STORE = parseHex(`0x${'51'.repeat(20)}`)
const EMPTY = (span: number) => parseHex(`0x${'e0'.repeat(19)}0${span}`)

/** All forks from Cancun on, six blocks apart; a contract that stores, and an empty account for each fork. */
interface Senders {
  readonly sender: Sender
  readonly authority: Sender
}

function changesGenesis({ sender, authority }: Senders): object {
  const store = assemble('32 calldataload 0 calldataload sstore stop')
  const alloc = {
    ...SYSTEM_ACCOUNTS,
    ...Object.fromEntries(FORKS.map((_, span) => [formatData(EMPTY(span)), { balance: '0x0' }])),
    [formatData(STORE)]: { balance: '0x1', nonce: '0x1', code: formatData(store), storage: { [word(1)]: word(7) } },
    [formatData(sender.address)]: { balance: '0xd3c21bcecceda1000000' },
    [formatData(authority.address)]: { balance: '0x0de0b6b3a7640000' },
  }
  const { config, ...rest } = createForkGenesis('amsterdam', alloc) as { config: object }
  const times = Object.fromEntries(FORKS.map((fork, span) => [`${fork}Time`, span === 0 ? 0 : 1 + 10 * SPAN * span]))
  return { config: { ...config, chainId: Number(CHAIN_ID), ...times }, ...rest }
}

/** A block for each kind of change. */
async function addChanges(builder: ChainBuilder, { sender, authority }: Senders, span: number): Promise<void> {
  const store = (slot: number, value: number) => ({
    ...{ sender, to: STORE, input: concatBytes(parseHex(word(slot)), parseHex(word(value))) },
  })
  const destroyed = assemble('caller selfdestruct')
  const delegate = (to: Uint8Array) => {
    authority.nonce += 1n
    return {
      ...{ sender, type: 4 as const, to: authority.address, gasLimit: 200_000n },
      authorizationList: [authorize(authority, to, authority.nonce - 1n)],
    }
  }
  const add = async (plan: BlockPlan) => {
    const { receipts } = await builder.add(plan)
    assert.ok(receipts.every(({ status }) => status === 1))
  }
  const hasDelegations = span > 0
  // Created and destroyed in one transaction, with a value.
  await add({ transactions: [deploy(sender, destroyed, { value: 5n })] })
  // The only slot becomes zero: the storage is empty; an account is touched that was empty.
  await add({ transactions: [store(1, 0), { sender, to: EMPTY(span), value: 0n }] })
  await add({ transactions: [store(1, 7 + span), ...(hasDelegations ? [delegate(STORE)] : [])] })
  await add({ transactions: hasDelegations ? [delegate(new Uint8Array(20))] : [] })
  // Set and removed in one block.
  await add({ transactions: [store(2, 3), store(2, 0)] })
  await add({ transactions: [{ sender, to: padLeft(Uint8Array.of(1), 20), value: 1n }] })
}

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

interface Complete {
  readonly datadir: string
  readonly genesis: unknown
  readonly mode: StateFetchMode
}

async function beginEverywhere(t: TestContext, { datadir, genesis, mode }: Complete): Promise<void> {
  const db = openForReading(datadir)
  t.after(() => db.close())
  const server = await openStateServer(t, datadir)
  const reader = createChainReader(db)
  const head = reader.head()!
  let [begun, compared] = [0, 0]
  for (let first = 0; first < head; first++) {
    if (!canBeginSparse(reader.spec(), reader.blockByNumber(first)!.header)) continue
    compared += await beginAt(t, first, { source: db, reader, server, genesis, mode })
    begun++
  }
  t.diagnostic(`begun at ${begun} of ${head} blocks, ${compared} values compared`)
  assert.ok(begun >= 10 && compared > 100 * begun)
}

interface Source {
  readonly source: Database
  readonly reader: ChainReader
  readonly server: StateServer
  readonly genesis: unknown
  readonly mode: StateFetchMode
}

/** Follows from a block to the head, audits, and compares all that is known. @returns how many values that are */
async function beginAt(
  t: TestContext,
  first: number,
  { source, reader, server, genesis, mode }: Source,
): Promise<number> {
  const db = openForWriting(temporaryDirectory(t))
  try {
    const chain = await openWritableChain(db, { genesis }, 'sparse')
    chain.sparse!.connect(createUpstreamSource(server as unknown as EthRpc, { mode }))
    const before = Array.from({ length: Math.min(first, 256) }, (_, i) => reader.blockHash(first - 1 - i)!)
    chain.sparse!.setAncestors(concatBytes(...before))
    const appender = createBlockAppender(chain)
    const head = reader.head()!
    for (let number = first; number <= head; number++) {
      const stored = reader.blockByNumber(number)!
      const { hash, header, sizeBytes, withdrawals, totalDifficulty } = stored
      const uncles = reader.uncles(number)
      const block = { hash, header, sizeBytes, withdrawals, transactions: reader.transactions(stored), uncles }
      await appender.take(
        {
          block,
          ...(number === first
            ? { totalDifficulty, receipts: reader.receipts(stored).map(({ receipt }) => receipt) }
            : {}),
        },
        1,
      )
      await appender.flush()
      chain.head.commit()
    }
    assert.equal(formatData(chain.head.newest!.hash), formatData(reader.headHash()!), `begun at ${first}`)
    const { blocks, unaudited } = auditSparseState(db)
    assert.deepEqual({ blocks, unaudited }, { blocks: head - first, unaudited: 0 }, `begun at ${first}`)
    return compareKnown(db, source, { first, head })
  } finally {
    db.close()
  }
}

/** Compares each account and slot with a row at each height with the complete state. */
function compareKnown(own: Database, complete: Database, { first, head }: { first: number; head: number }): number {
  const [known, wanted] = [own, complete].map(createStateReads)
  const accounts = rows<{ address: Uint8Array }>(own, 'SELECT DISTINCT a.address FROM account_history h')
  const slots = rows<{ address: Uint8Array; slot: Uint8Array }>(
    own,
    'SELECT DISTINCT a.address, h.slot FROM storage_history h',
  )
  let compared = 0
  for (let number = first; number <= head; number++) {
    for (const { address } of accounts) {
      const what = `${formatData(address)} at ${number}, begun at ${first}`
      assert.equal(known.balance(address, number), wanted.balance(address, number), what)
      assert.equal(known.nonce(address, number), wanted.nonce(address, number), what)
      assert.ok(equalBytes(known.code(address, number), wanted.code(address, number)), what)
      compared++
    }
    for (const { address, slot } of slots) {
      const values = [known, wanted].map((each) => formatData(each.storage(address, padLeft(slot, 32), number)))
      assert.equal(values[0], values[1], `${formatData(address)} ${formatData(slot)} at ${number}, begun at ${first}`)
      compared++
    }
  }
  return compared
}

function rows<T>(db: Database, select: string): T[] {
  return db.prepare<[], T>(`${select} JOIN addresses a ON a.id = h.address_id`).all()
}
