import { writeFileSync } from 'node:fs'
import { keccak256 } from '../../src/chain/crypto.js'
import type { Block, Receipt } from '../../src/chain/eth/types.js'
import { bigIntToFixedBytes, bytesToBigInt, concatBytes, padLeft } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import type { Database } from '../../src/store/database.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { TRIE_HISTORY_BLOCKS } from '../../src/store/state/trieHistory.js'
import { accountAddress } from '../../test/support/chains/stateChain.js'
import { type SeededRandom, seededRandom } from '../../test/support/random.js'
import { assemble } from '../../tools/fixture/assembler.js'
import {
  type ChainBuilder,
  createChainBuilder,
  createSender,
  type Sender,
  type TransactionPlan,
} from '../../tools/fixture/chainBuilder.js'
import { createMergedGenesis } from '../../tools/fixture/mergedGenesis.js'
import { writeBulkState } from './bulkState.js'

/* A network whose blocks are of mainnet's size: 400 accounts and 1,000 slots changed, 250 logs. Half of what a block
 * changes is in a thirtieth of the state, and a twentieth is new. */

const ACCOUNTS = 400
const SLOTS = 1_000
const LOGS = 250
// Changed at most, in a state too small for that.
const CHANGED_SHARE = 1 / 8
const NEW_SHARE = 1 / 20
// The n-th of a thousand parts is chosen so often that half of the choices are in the first 31.
const SKEW = 5
/** Contracts that blocks call. */
export const CONTRACTS = 200
const SENDERS = 400
/** Slots that one transaction sets at most. */
const SLOTS_SET = 20
const CODE_BYTES = { least: 2_000, spread: 8_000 }

/** Contracts that call each other, which no block calls: each has the next one's address in slot 0. */
export const CALL_DEPTH = 4

/** Topic 0 of each log; topic 1 is the caller. */
export const TRANSFER_TOPIC = formatData(keccak256(new TextEncoder().encode('Transfer(address,address,uint256)')))
// Called with a number of slots, a number of logs, these slots and addresses: adds one to each slot, logs, and sends
// each address 1 wei.
const STORE_CODE = assemble(`
  0 calldataload 0
  :slots dup2 dup2 lt iszero @logs jumpi
    dup1 32 mul 64 add calldataload dup1 sload 1 add swap1 sstore
    1 add @slots jump
  :logs pop 32 calldataload
  :log dup1 iszero @pay jumpi
    dup1 caller ${TRANSFER_TOPIC} 32 0 log3
    1 swap1 sub @log jump
  :pay pop 32 mul 64 add
  :next dup1 calldatasize gt iszero @done jumpi
    0 0 0 0 1 dup6 calldataload gas call pop
    32 add @next jump
  :done stop`)
// Calls the address in slot 0, if it has one, and returns the slot.
const LINK_CODE = assemble(`
  0 sload dup1 iszero @done jumpi
  0 0 0 0 0 dup6 gas call pop
  :done 0 sload 0 mstore 32 0 return stop`)

/** What a block changed. */
export interface BlockSize {
  readonly transactions: number
  readonly accounts: number
  readonly slots: number
}

/** A network that grows by a block on demand. */
export interface SparseNetwork {
  readonly builder: ChainBuilder
  /** Accounts and slots of the state at first. */
  readonly accounts: number
  readonly slots: number
  /** Senders of the transactions, the most frequent ones first. */
  readonly senders: readonly Sender[]
  grow(): Promise<{ block: Block; receipts: readonly Receipt[]; size: BlockSize }>
}

/** Makes the network with a state of `accounts` accounts and `slots` slots, in the database, and writes its genesis in
 *  geth's format. A database that has it already is not changed. Its blocks have `blockShare` of the changes and logs
 *  of mainnet's. */
export async function makeSparseNetwork(
  db: Database,
  { accounts, slots, genesis, blockShare }: { accounts: number; slots: number; genesis: string; blockShare: number },
): Promise<SparseNetwork> {
  const senders = Array.from({ length: SENDERS }, (_, i) => createSender(`sparse bench ${i}`))
  const json = createGenesis(senders)
  writeFileSync(genesis, JSON.stringify(json))
  if (createChainReader(db).head() === undefined) await writeState(db, json, { accounts, slots })
  const builder = await createChainBuilder(db, json)
  const state = { accounts, slots }
  const random = seededRandom(31)
  return { builder, ...state, senders, grow: () => addBlock(builder, state, { random, senders, blockShare }) }
}

/** Writes block 0 with the state, and empty blocks: the first of them commits to the state, and no earlier trie is
 *  restored from the last. */
async function writeState(db: Database, genesis: object, size: { accounts: number; slots: number }): Promise<void> {
  const builder = await createChainBuilder(db, genesis)
  writeBulkState(db, {
    ...size,
    ...{ addressOf: accountAddress, contractOf, slotOf: slotKey },
    contracts: range(0, CONTRACTS).map(storeContract),
  })
  const { head } = builder.chain
  head.begin()
  head.rollback() // what is in memory is of the state before
  for (let block = 0; block <= TRIE_HISTORY_BLOCKS; block++) await builder.add()
}

/** The first of `CALL_DEPTH` contracts that call each other: those of each chain are others. */
export function linkedContract(chain: number, depth = 0): Uint8Array {
  return keccak256(new TextEncoder().encode(`sparse bench link ${chain} ${depth}`)).slice(12)
}

async function addBlock(
  builder: ChainBuilder,
  state: { accounts: number; slots: number },
  { random, senders, blockShare }: { random: SeededRandom; senders: readonly Sender[]; blockShare: number },
): Promise<{ block: Block; receipts: readonly Receipt[]; size: BlockSize }> {
  const most = { accounts: ACCOUNTS * blockShare, slots: SLOTS * blockShare, logs: LOGS * blockShare }
  const slots = pick(random, state.slots, Math.floor(Math.min(most.slots, state.slots * CHANGED_SHARE)))
  const calls = storeCalls(slots)
  const from = calls.map(() => senders[skewed(random, senders.length)])
  const contracts = new Set(calls.map(({ contract }) => contract)).size
  const others = contracts + new Set(from).size + 1 // the beneficiary
  const wanted = Math.floor(Math.min(most.accounts - others, state.accounts * CHANGED_SHARE))
  const recipients = pick(random, state.accounts, Math.max(0, wanted))
  for (const [i, each] of recipients.entries()) calls[i % calls.length].recipients.push(accountAddress(each))
  for (let i = 0; i < most.logs; i++) calls[i % calls.length].logs++
  const transactions = calls.map((call, i) => planCall(from[i], call))
  const { block, receipts } = await builder.add({ transactions, withdrawals: [] })
  builder.blocks.length = 0
  const failed = receipts.filter(({ status }) => status !== 1).length
  if (failed > 0) throw new Error(`block ${block.header.number}: ${failed} transactions failed`)
  state.slots = Math.max(state.slots, 1 + Math.max(...slots))
  state.accounts = Math.max(state.accounts, 1 + Math.max(...recipients))
  const size = { transactions: calls.length, accounts: others + recipients.length, slots: slots.length }
  return { block, receipts, size }
}

interface StoreCall {
  readonly contract: number
  readonly slots: readonly number[]
  readonly recipients: Uint8Array[]
  logs: number
}

/** Calls that set the slots, each some of one contract. */
function storeCalls(slots: readonly number[]): StoreCall[] {
  const byContract = new Map<number, number[]>()
  for (const slot of slots) {
    const contract = contractOf(slot)
    const own = byContract.get(contract)
    if (own) own.push(slot)
    else byContract.set(contract, [slot])
  }
  return [...byContract].flatMap(([contract, own]) =>
    range(0, Math.ceil(own.length / SLOTS_SET)).map((i) => ({
      contract,
      slots: own.slice(i * SLOTS_SET, (i + 1) * SLOTS_SET),
      recipients: [],
      logs: 0,
    })),
  )
}

function planCall(sender: Sender, { contract, slots, recipients, logs }: StoreCall): TransactionPlan {
  const numbers = [slots.length, logs].map((each) => bigIntToFixedBytes(BigInt(each), 32))
  const addresses = recipients.map((each) => padLeft(each, 32))
  const input = concatBytes(...numbers, ...slots.map(slotKey), ...addresses)
  const gasLimit =
    60_000n + 24_000n * BigInt(slots.length) + 40_000n * BigInt(recipients.length) + 3_000n * BigInt(logs)
  return { sender, type: 2, to: storeContract(contract), input, gasLimit }
}

/** Distinct numbers below `known`, low ones more often, and new ones from it on. */
function pick(random: SeededRandom, known: number, count: number): number[] {
  const fresh = Math.floor(count * NEW_SHARE)
  const chosen = new Set<number>()
  while (chosen.size < count - fresh) chosen.add(skewed(random, known))
  return [...chosen, ...range(known, fresh)]
}

function skewed(random: SeededRandom, limit: number): number {
  return Math.floor(limit * (random.below(2 ** 32) / 2 ** 32) ** SKEW)
}

/** The contract of a slot: some have many slots, as on real networks. */
function contractOf(slot: number): number {
  return skewed(seededRandom(slot), CONTRACTS)
}

function slotKey(slot: number): Uint8Array {
  return keccak256(bigIntToFixedBytes(BigInt(slot), 8))
}

/** The contract that emits logs and has slots, by its number below `CONTRACTS`: low ones are called most. */
export function storeContract(contract: number): Uint8Array {
  return keccak256(new TextEncoder().encode(`sparse bench contract ${contract}`)).slice(12)
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => from + i)
}

/** Senders with ether, and contracts, each with code of its own. */
function createGenesis(senders: readonly Sender[]): object {
  const random = seededRandom(7)
  const padded = (code: Uint8Array) =>
    concatBytes(code, random.bytes(CODE_BYTES.least + random.below(CODE_BYTES.spread)))
  const contract = (code: Uint8Array, storage: object = {}) => ({
    ...{ balance: '0x3635c9adc5dea00000', nonce: '0x1' },
    ...{ code: formatData(padded(code)), storage },
  })
  const links = [0, 1].flatMap((chain) =>
    range(0, CALL_DEPTH).map((depth) => {
      const next = depth + 1 < CALL_DEPTH ? bytesToBigInt(linkedContract(chain, depth + 1)) : 0n
      const storage = next === 0n ? {} : { [formatData(new Uint8Array(32))]: formatData(bigIntToFixedBytes(next, 32)) }
      return [formatData(linkedContract(chain, depth)), contract(LINK_CODE, storage)]
    }),
  )
  const alloc = {
    ...Object.fromEntries(senders.map(({ address }) => [formatData(address), { balance: '0xd3c21bcecceda1000000' }])),
    ...Object.fromEntries(range(0, CONTRACTS).map((i) => [formatData(storeContract(i)), contract(STORE_CODE)])),
    ...Object.fromEntries(links),
  }
  return createMergedGenesis({ chainId: 20_265, gasLimit: '0xbebc200', alloc })
}
