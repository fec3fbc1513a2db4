import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import { EMPTY_BYTES, padLeft, trimLeft } from '../../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { openForReading } from '../../../src/store/open.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { createStateTrie } from '../chains/stateTrie.js'
import type { SeededRandom } from '../random.js'

/** An account of a state, with its slots: 32 bytes each, and values without leading zeros. */
export interface WholeAccount {
  readonly address: Uint8Array
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Uint8Array
  readonly slots: readonly { readonly slot: Uint8Array; readonly value: Uint8Array }[]
}

/** Who writes a dump: `geth snapshot dump`, `geth dump --iterative`, `reth init-state`. */
export const DUMP_WRITERS = ['snapshot', 'iterative', 'reth'] as const
export type DumpWriter = (typeof DUMP_WRITERS)[number]

/** A state of accounts with and without code and storage, some with the same code, one with `mostSlots` slots. */
export function randomState(
  random: SeededRandom,
  { accounts, mostSlots }: { accounts: number; mostSlots: number },
): WholeAccount[] {
  const codes = [random.bytes(1), random.bytes(100), random.bytes(600)]
  const longest = random.bytes(24_576)
  return Array.from({ length: accounts }, (_, i) => {
    const isContract = random.below(3) === 0
    const count = i === 0 ? mostSlots : isContract ? random.below(random.below(2) === 0 ? 4 : 60) : 0
    const slots = Array.from({ length: count }, (_, n) => ({
      slot: random.below(2) === 0 ? padLeft(Uint8Array.of(n >> 16, n >> 8, n), 32) : random.bytes(32),
      value: trimLeft(Uint8Array.of(1 + random.below(255), ...random.bytes(random.below(32)))),
    }))
    return {
      address: random.bytes(20),
      nonce: BigInt(random.below(2) === 0 ? 0 : random.below(1_000)) + (random.below(50) === 0 ? 2n ** 63n : 0n),
      balance: BigInt(random.below(2) === 0 ? 0 : random.below(2 ** 31)) * (random.below(4) === 0 ? 10n ** 40n : 1n),
      code: i === 0 ? longest : isContract ? codes[random.below(codes.length)] : EMPTY_BYTES,
      slots: [...new Map(slots.map((each) => [formatData(each.slot), each])).values()],
    }
  })
}

/** The newest state of a database that executed its chain. */
export function readWholeState(datadir: string): WholeAccount[] {
  const db = openForReading(datadir)
  try {
    const reader = createStateReader(db)
    return reader.latestAccounts(0, 1e9).flatMap(({ address, account }) => {
      if (account === undefined) return []
      const { addressId, incarnation, codeId, nonce, balance } = account
      const slots = reader
        .latestStorage(addressId, incarnation, { limit: 1e9 })
        .filter(({ value }) => value.length > 0)
        .map(({ slot, value }) => ({ slot: padLeft(slot, 32), value }))
      return [{ address, nonce, balance, slots, code: codeId === undefined ? EMPTY_BYTES : reader.code(codeId) }]
    })
  } finally {
    db.close()
  }
}

/** The root of a state, by a trie that is not the product's: 32 bytes. */
export function rootOfState(state: readonly WholeAccount[]): Uint8Array {
  const trie = createStateTrie()
  for (const each of state) {
    const codeHash = each.code.length === 0 ? EMPTY_CODE_HASH : keccak256(each.code)
    trie.put(keccak256(each.address), encodeRlp([each.nonce, each.balance, storageRootOf(each), codeHash]))
  }
  return trie.root()
}

function storageRootOf({ slots }: WholeAccount): Uint8Array {
  const trie = createStateTrie()
  for (const { slot, value } of slots) trie.put(keccak256(slot), encodeRlp(value))
  return trie.root()
}

/** The objects of a dump: the root, then the accounts in the order of their writer. */
export function dumpObjects(state: readonly WholeAccount[], writer: DumpWriter): { [member: string]: unknown }[] {
  const hashes = new Map(state.map((each) => [each, keccak256(each.address)]))
  const ordered =
    writer === 'reth'
      ? state.toSorted((a, b) => Buffer.compare(a.address, b.address))
      : state.toSorted((a, b) => Buffer.compare(hashes.get(a)!, hashes.get(b)!))
  const write: (account: WholeAccount) => object = WRITERS[writer]
  return [{ root: formatData(rootOfState(state)) }, ...ordered.map((each) => ({ ...write(each) }))]
}

/** A dump as text. */
export function formatDump(state: readonly WholeAccount[], writer: DumpWriter): string {
  return dumpObjects(state, writer)
    .map((each) => `${JSON.stringify(each)}\n`)
    .join('')
}

const bare = (bytes: Uint8Array) => formatData(bytes).slice(2)

function sortedObject(entries: (readonly [string, string])[]): { [key: string]: string } | undefined {
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.length === 0 ? undefined : Object.fromEntries(sorted)
}

function snapshotObject(account: WholeAccount) {
  const slots = account.slots.map(({ slot, value }) => [formatData(keccak256(slot)), bare(encodeRlp(value))] as const)
  return { ...gethObject(account), storage: sortedObject(slots), key: formatData(keccak256(account.address)) }
}

function iterativeObject(account: WholeAccount) {
  const slots = account.slots.map(({ slot, value }) => [formatData(slot), bare(value)] as const)
  const key = formatData(keccak256(account.address))
  return { ...gethObject(account), storage: sortedObject(slots), address: formatData(account.address), key }
}

function gethObject(account: WholeAccount) {
  const { nonce, balance, code } = account
  return {
    balance: balance.toString(),
    // JSON.stringify has no integers above 2^53: such a nonce is written as text, which is read too.
    nonce: nonce > 2n ** 53n ? nonce.toString() : Number(nonce),
    root: formatData(storageRootOf(account)),
    codeHash: formatData(code.length === 0 ? EMPTY_CODE_HASH : keccak256(code)),
    code: code.length === 0 ? undefined : formatData(code),
  }
}

function rethObject({ address, nonce, balance, code, slots }: WholeAccount) {
  const storage = sortedObject(
    slots.map(({ slot, value }) => [formatData(slot), formatData(padLeft(value, 32))] as const),
  )
  return {
    ...{ nonce: formatQuantity(nonce), balance: formatQuantity(balance) },
    ...{ code: code.length === 0 ? undefined : formatData(code), storage, address: formatData(address) },
  }
}

const WRITERS = { snapshot: snapshotObject, iterative: iterativeObject, reth: rethObject }
