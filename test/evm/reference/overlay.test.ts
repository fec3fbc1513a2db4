import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { Account, Address } from '@ethereumjs/util'
import { keccak256 } from '../../../src/chain/crypto.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import { Overlay } from '../../../src/evm/reference/overlay.js'
import { createCodeCache, createNewestState } from '../../../src/evm/state/stateProvider.js'
import { bigIntToBytes, EMPTY_BYTES, padLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainWriter } from '../../../src/store/rows/chainWriter.js'
import { createStateReader, createStateReads } from '../../../src/store/state/stateReader.js'
import { createStateTrieTable } from '../../../src/store/state/stateTrieTable.js'
import { createStateRoot } from '../../../src/trie/stateRoot.js'
import { blockAt } from '../../support/chains/blocks.js'
import { hashStoredState } from '../../support/compare/hashStoredState.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/** The obvious state: maps that are copied whole. */
interface PlainAccount {
  nonce: bigint
  balance: bigint
  code: string
  storage: Map<string, bigint>
}
type PlainState = Map<string, PlainAccount>

const copyState = (state: PlainState): PlainState =>
  new Map(Array.from(state, ([key, account]) => [key, { ...account, storage: new Map(account.storage) }]))

const ADDRESSES = Array.from({ length: 8 }, (_, i) => new Uint8Array(20).fill(i + 1))
const SLOTS = Array.from({ length: 6 }, (_, i) => padLeft(Uint8Array.of(i * 40), 32))
const CODES = [Uint8Array.of(1, 2, 3), Uint8Array.of(0xfe), new Uint8Array(300).fill(7)]

test('random blocks with checkpoints leave the same state as plain maps, at every height', async (t) => {
  for (let seed = 1; seed <= 6; seed++) await runSeed(t, seed)
})

async function runSeed(t: TestContext, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const reader = createStateReader(db)
  const writer = createChainWriter(db)
  const root = createStateRoot(createStateTrieTable(db), 2 ** 20)
  const backing = createNewestState(reader, { codes: createCodeCache(reader), maxBytes: 8_000 })
  const overlay = new Overlay(backing, () => new Uint8Array(32))
  let plain: PlainState = new Map()
  const history: PlainState[] = []
  for (let number = 0; number < 25; number++) {
    for (let transaction = 0; transaction < 4; transaction++) {
      plain = await playCheckpoint(overlay, plain, random, 0)
      overlay.originalStorageCache.clear()
    }
    assert.equal(
      formatData(root.update(overlay.takeTouched())),
      await plainRoot(plain),
      `root, seed ${seed}, block ${number}`,
    )
    writer.begin()
    const changes = overlay.takeChanges()
    backing.wrote(changes)
    if (random.below(3) === 0) overlay.clear()
    writer.insertBlock(blockAt(number), [], 0n, changes)
    root.save()
    writer.commit()
    history.push(copyState(plain))
  }
  assert.equal(formatData(hashStoredState(reader)), await plainRoot(plain), 'root built from the rows')
  const reopened = createStateRoot(createStateTrieTable(db), 2 ** 20)
  assert.equal(formatData(reopened.root()), await plainRoot(plain), 'root of the stored trie')
  const reads = createStateReads(db)
  for (const [number, state] of history.entries()) compareAt(reads, number, state, `seed ${seed}, block ${number}`)
}

/** Random changes inside a checkpoint, which is then kept or given up. */
async function playCheckpoint(
  overlay: Overlay,
  before: PlainState,
  random: SeededRandom,
  depth: number,
): Promise<PlainState> {
  await overlay.checkpoint()
  let state = copyState(before)
  for (let step = 0; step < 6; step++) {
    if (depth < 3 && random.below(5) === 0) state = await playCheckpoint(overlay, state, random, depth + 1)
    else await playChange(overlay, state, random)
  }
  if (random.below(3) === 0) {
    await overlay.revert()
    return before
  }
  await overlay.commit()
  return state
}

async function playChange(overlay: Overlay, state: PlainState, random: SeededRandom): Promise<void> {
  const bytes = ADDRESSES[random.below(ADDRESSES.length)]
  const address = new Address(bytes)
  const key = formatData(bytes)
  const account = state.get(key)
  switch (random.below(7)) {
    case 0:
    case 1: {
      const nonce = BigInt(random.below(1000))
      const balance = BigInt(random.below(2 ** 30)) ** 3n
      const held = await overlay.getAccount(address)
      await overlay.putAccount(address, new Account(nonce, balance, undefined, held?.codeHash))
      state.set(key, { nonce, balance, code: account?.code ?? '0x', storage: account?.storage ?? new Map() })
      return
    }
    case 2:
      await overlay.deleteAccount(address)
      state.delete(key)
      return
    case 3: {
      const code = CODES[random.below(CODES.length)]
      await overlay.putCode(address, code)
      const kept = account ?? { nonce: 0n, balance: 0n, storage: new Map() }
      state.set(key, { ...kept, code: formatData(code) })
      return
    }
    case 4:
      if (!account) return
      await overlay.clearStorage(address)
      account.storage.clear()
      return
    default: {
      if (!account) return
      const slot = SLOTS[random.below(SLOTS.length)]
      const value = random.below(3) === 0 ? 0n : BigInt(random.below(2 ** 31))
      await overlay.putStorage(address, slot, bigIntToBytes(value))
      if (value === 0n) account.storage.delete(formatData(slot))
      else account.storage.set(formatData(slot), value)
      const read = await overlay.getStorage(address, slot)
      assert.equal(BigInt(formatData(padLeft(read, 32))), value)
    }
  }
}

function compareAt(reads: ReturnType<typeof createStateReads>, number: number, state: PlainState, label: string): void {
  for (const address of ADDRESSES) {
    const account = state.get(formatData(address))
    assert.equal(reads.balance(address, number), account?.balance ?? 0n, `${label}: balance`)
    assert.equal(reads.nonce(address, number), account?.nonce ?? 0n, `${label}: nonce`)
    assert.equal(formatData(reads.code(address, number)), account?.code ?? '0x', `${label}: code`)
    for (const slot of SLOTS) {
      const word = BigInt(formatData(reads.storage(address, slot, number)))
      assert.equal(word, account?.storage.get(formatData(slot)) ?? 0n, `${label}: slot ${formatData(slot)}`)
    }
  }
}

/** Returns the state root by the package's trie, built from scratch. */
async function plainRoot(state: PlainState): Promise<string> {
  const accounts = new MerklePatriciaTrie({ useKeyHashing: true })
  for (const [key, { nonce, balance, code, storage }] of state) {
    const slots = new MerklePatriciaTrie({ useKeyHashing: true })
    for (const [slot, value] of storage) await slots.put(bytesOf(slot), encodeRlp(value))
    await accounts.put(bytesOf(key), encodeRlp([nonce, balance, slots.root(), keccak256(bytesOf(code))]))
  }
  return formatData(accounts.root())
}

function bytesOf(hex: string): Uint8Array {
  return hex === '0x' ? EMPTY_BYTES : new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}
