import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256 } from '../../src/chain/crypto.js'
import { encodeBlock, transactionsRoot, unclesHash } from '../../src/chain/eth/block.js'
import { bloomOf, orBloom } from '../../src/chain/eth/bloom.js'
import { EMPTY_CODE_HASH } from '../../src/chain/eth/emptyHashes.js'
import { nextBaseFee } from '../../src/chain/eth/fees.js'
import { hashHeader } from '../../src/chain/eth/header.js'
import { receiptsRoot } from '../../src/chain/eth/receipt.js'
import { recoverSender, transactionHash } from '../../src/chain/eth/transaction.js'
import type { Block, ConsensusReceipt, Header, Log, Transaction } from '../../src/chain/eth/types.js'
import { withdrawalsRoot } from '../../src/chain/eth/withdrawals.js'
import { bigIntToFixedBytes, bytesToBigInt, trimLeft } from '../../src/lib/bytes.js'
import { encodeReplicatedBlock } from '../../src/replication/codec/message.js'
import type { EncodedBlock } from '../../src/replication/codec/types.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import type { AccountChange, StateChanges } from '../../src/store/rows/stateChanges.js'
import { openScratchTrie } from '../../src/store/state/stateTrieTable.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { createStateRoot } from '../../src/trie/stateRoot.js'
import type { TouchedAccount } from '../../src/trie/touchedAccount.js'
import { accountAddress, createStateGenesis } from '../../test/support/chains/stateChain.js'
import { seededRandom } from '../../test/support/random.js'
import { createSender } from '../../tools/fixture/chainBuilder.js'

/* Blocks of the size of the design's block, made without execution: what replicas apply need not have been executed, as
 * long as hashes, roots and blooms agree. Signatures are random, and of whom they are by chance. */

const TRANSACTIONS = 99
const LOGS = 251
const ACCOUNTS = 400
const SLOTS = 1_000
// Changed at most, in a state too small for the design's block: a third of them are in a hundredth of it.
const CHANGED_SHARE = 1 / 40
const GROWTH = { accounts: 5_000, slots: 10_000 }
// Contracts that share the slots.
const CONTRACTS = 500
const GAS_LIMIT = 100_000_000n // as in the genesis

/** How large the state is, and how many blocks follow. */
export interface ChainPlan {
  accounts: number
  slots: number
  blocks: number
  /** Blocks of a second branch after the last but `reorg` blocks. */
  reorg: number
}

/** Blocks in a file. */
export interface StoredChain {
  genesis: object
  /** Number of the last block that the state grew with; the measured blocks follow. */
  grown: number
  head: number
  /** Blocks of the second branch, which begins after block `head` minus this. */
  branch: number
  read(index: number): EncodedBlock
  close(): void
}

/** Writes the blocks into `directory`, or opens those that were written before. Index `n - 1` has block n, then comes
 *  the branch. */
export async function openChain(directory: string, plan: ChainPlan): Promise<StoredChain> {
  const genesis = { ...createStateGenesis(createSender('replica bench')), alloc: {} }
  const [data, list] = [join(directory, 'blocks'), join(directory, 'blocks.json')]
  let grown: number
  try {
    grown = (JSON.parse(readFileSync(list, 'utf8')) as { grown: number }).grown
  } catch {
    grown = await writeChain(data, list, genesis, plan)
  }
  const { entries } = JSON.parse(readFileSync(list, 'utf8')) as { entries: Entry[] }
  if (entries.length !== grown + plan.blocks + plan.reorg) {
    throw new Error(
      `${directory} has a chain of ${entries.length} blocks; --blocks, --tip and --reorg of this run name another one`,
    )
  }
  const file = openSync(data, 'r')
  return {
    genesis,
    grown,
    head: grown + plan.blocks,
    branch: plan.reorg,
    read: (index) => {
      const { number, hash, parentHash, at, length } = entries[index]
      const payload = new Uint8Array(length)
      readSync(file, payload, 0, length, at)
      return { number, hash: Buffer.from(hash, 'hex'), parentHash: Buffer.from(parentHash, 'hex'), payload }
    },
    close: () => closeSync(file),
  }
}

interface Entry {
  number: number
  hash: string
  parentHash: string
  at: number
  length: number
}

async function writeChain(data: string, list: string, genesis: object, plan: ChainPlan): Promise<number> {
  const file = openSync(data, 'w')
  const entries: Entry[] = []
  let at = 0
  const write = ({ number, hash, parentHash, payload }: EncodedBlock) => {
    writeSync(file, payload)
    const [own, parent] = [hash, parentHash].map((bytes) => Buffer.from(bytes).toString('hex'))
    entries.push({ number, hash: own, parentHash: parent, at, length: payload.length })
    at += payload.length
  }
  const maker = createMaker(await openGenesis(genesis), plan)
  let grown = 0
  for (let made = 0; made < plan.accounts; made += GROWTH.accounts) {
    write(maker.grow(Math.min(GROWTH.accounts, plan.accounts - made)))
    grown++
  }
  for (let block = 0; block < plan.blocks - plan.reorg; block++) write(maker.next())
  const mark = maker.mark()
  for (let block = 0; block < plan.reorg; block++) write(maker.next())
  maker.goBack(mark)
  for (let block = 0; block < plan.reorg; block++) write(maker.next())
  closeSync(file)
  writeFileSync(list, JSON.stringify({ grown, entries }))
  return grown
}

async function openGenesis(genesis: object): Promise<Header> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-genesis-'))
  const db = openForWriting(directory)
  try {
    return (await openWritableChain(db, { genesis }, 'execute')).head.newest!.header
  } finally {
    db.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Accounts and slots of a block, as ordinals; those beyond the known ones are new. */
interface Touched {
  accounts: number[]
  slots: number[]
}

function createMaker(genesis: Header, plan: ChainPlan) {
  const random = seededRandom(18)
  const root = createStateRoot(openScratchTrie().table, 256 * 2 ** 20)
  /** The accounts as they are now: one whose slots alone change keeps what it has. */
  let held = new Map<string, NonNullable<TouchedAccount['account']>>()
  let state = { parent: genesis, accounts: 0, slots: 0, index: 0 }

  /** A third of the changes goes to a hundredth of the state, as on real chains; a twentieth is new. */
  const pick = (known: number, count: number): number[] => {
    const chosen = new Set<number>()
    const fresh = Math.floor(count / 20)
    while (chosen.size < count - fresh) {
      chosen.add(random.below(chosen.size % 3 === 0 ? Math.ceil(known / 100) : known))
    }
    for (let i = 0; i < fresh; i++) chosen.add(known + i)
    return [...chosen]
  }
  const build = ({ accounts, slots }: Touched, hasBody: boolean): EncodedBlock => {
    const changes = makeChanges(accounts, slots)
    const transactions = hasBody ? Array.from({ length: TRANSACTIONS }, makeTransaction) : []
    const receipts = hasBody ? makeReceipts() : []
    const logsBloom = new Uint8Array(256)
    for (const receipt of receipts) orBloom(logsBloom, receipt.logsBloom)
    const { parent } = state
    const header: Header = {
      ...parent,
      number: parent.number + 1,
      parentHash: hashHeader(parent),
      unclesHash: unclesHash([]),
      stateRoot: root.update(touchedOf(changes)),
      transactionsRoot: transactionsRoot(transactions),
      receiptsRoot: receiptsRoot(receipts),
      withdrawalsRoot: withdrawalsRoot([]),
      logsBloom,
      gasUsed: receipts.at(-1)?.cumulativeGasUsed ?? 0n,
      baseFeePerGas: nextBaseFee(parent),
      timestamp: parent.timestamp + 12n,
      extraData: random.bytes(8),
      mixHash: random.bytes(32),
    }
    const bare = { hash: hashHeader(header), header, transactions, uncles: [], withdrawals: [], sizeBytes: 0 }
    const block: Block = { ...bare, sizeBytes: encodeBlock(bare).length }
    state.parent = header
    const appearances = transactions.map(({ from, to }) => [
      from,
      to!,
      ...[0, 1, 2].map(() => addressOf(random.below(plan.accounts))),
    ])
    return encodeReplicatedBlock({ block, receipts, totalDifficulty: 0n, changes, appearances })
  }
  const makeChanges = (accounts: readonly number[], slots: readonly number[]): StateChanges => {
    for (const each of accounts) state.accounts = Math.max(state.accounts, each + 1)
    for (const each of slots) state.slots = Math.max(state.slots, each + 1)
    return {
      accounts: accounts.map((n): AccountChange => {
        const account = { nonce: BigInt(random.below(5_000)), balance: bytesToBigInt(random.bytes(9)) }
        return { address: addressOf(n), incarnation: 0, account }
      }),
      storage: slots.map((n) => {
        const [address, slot] = [addressOf(n % CONTRACTS), keccak256(bigIntToFixedBytes(BigInt(n), 8))]
        return { address, incarnation: 0, slot, value: trimLeft(random.bytes(1 + random.below(32))) }
      }),
      codes: [],
    }
  }
  const touchedOf = ({ accounts, storage }: StateChanges): TouchedAccount[] => {
    const touched = new Map<string, TouchedAccount>()
    const entry = (address: Uint8Array) => {
      const key = Buffer.from(address).toString('latin1')
      const found = touched.get(key) ?? { address, account: held.get(key)!, cleared: false, slots: [] }
      touched.set(key, found)
      return found
    }
    for (const { address, account } of accounts) {
      const key = Buffer.from(address).toString('latin1')
      held.set(key, { nonce: account!.nonce, balance: account!.balance, codeHash: EMPTY_CODE_HASH })
      entry(address)
    }
    for (const { address, slot, value } of storage) entry(address).slots.push({ slot, value })
    return [...touched.values()]
  }
  const makeTransaction = (): Transaction => {
    const unsigned = {
      type: 2 as const,
      chainId: 20_264n,
      nonce: BigInt(state.index++),
      gasLimit: 600_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      maxFeePerGas: 3_000_000_000n,
      to: addressOf(random.below(CONTRACTS)),
      value: BigInt(random.below(1_000_000)),
      input: random.bytes(4 + 32 * (1 + random.below(12))),
      accessList: [],
    }
    for (;;) {
      const [r, s] = [bytesToBigInt(random.bytes(32)), bytesToBigInt(random.bytes(32)) >> 1n]
      const signed = { ...unsigned, v: BigInt(random.below(2)), r, s }
      const hash = transactionHash(signed)
      try {
        return { ...signed, hash, from: recoverSender({ ...signed, hash }) }
      } catch {} // half of all numbers are of no point of the curve
    }
  }
  const makeReceipts = (): ConsensusReceipt[] => {
    const gas = GAS_LIMIT / 2n / BigInt(TRANSACTIONS)
    return Array.from({ length: TRANSACTIONS }, (_, i) => {
      const count = Math.floor((LOGS * (i + 1)) / TRANSACTIONS) - Math.floor((LOGS * i) / TRANSACTIONS)
      const logs = Array.from({ length: count }, makeLog)
      const cumulativeGasUsed = i === TRANSACTIONS - 1 ? GAS_LIMIT / 2n : gas * BigInt(i + 1)
      return { type: 2, status: 1, cumulativeGasUsed, logsBloom: bloomOf(logs), logs }
    })
  }
  const makeLog = (): Log => {
    const party = () => Uint8Array.from([...new Uint8Array(12), ...addressOf(random.below(plan.accounts))])
    const topic = keccak256(Uint8Array.of(random.below(20)))
    return {
      address: addressOf(random.below(CONTRACTS)),
      topics: [topic, party(), party()],
      data: random.bytes(32 * (1 + random.below(3))),
    }
  }
  return {
    grow: (accounts: number) => {
      const slots = Math.ceil((plan.slots * accounts) / plan.accounts)
      const first = { accounts: state.accounts, slots: state.slots }
      return build(
        {
          accounts: Array.from({ length: accounts }, (_, i) => first.accounts + i),
          slots: Array.from({ length: slots }, (_, i) => first.slots + i),
        },
        false,
      )
    },
    next: () => {
      const [accounts, slots] = [state.accounts, state.slots].map((known) => Math.floor(known * CHANGED_SHARE))
      const changed = { accounts: Math.min(ACCOUNTS, accounts), slots: Math.min(SLOTS, slots) }
      return build({ accounts: pick(state.accounts, changed.accounts), slots: pick(state.slots, changed.slots) }, true)
    },
    mark: () => {
      root.commit()
      return { state: { ...state }, held: new Map(held) }
    },
    goBack: (mark: { state: typeof state; held: typeof held }) => {
      root.discard()
      state = { ...mark.state }
      held = mark.held
    },
  }
}

const addresses: Uint8Array[] = []

function addressOf(account: number): Uint8Array {
  addresses[account] ??= accountAddress(account)
  return addresses[account]
}
