import { MerklePatriciaTrie, updateMPTFromMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { MapDB } from '@ethereumjs/util'
import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import type { StateProvider } from '../../../src/evm/state/stateProvider.js'
import { bigIntToBytes, bytesToBigInt, EMPTY_BYTES, equalBytes, keyOfBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import type { TouchedAccount } from '../../../src/trie/touchedAccount.js'

type Node = Uint8Array | Node[]

/** An account as a leaf of the state trie has it. */
export interface TrieAccount {
  nonce: bigint
  balance: bigint
  storageRoot: Uint8Array
  codeHash: Uint8Array
}

/** The account of a leaf's value. */
export function decodeTrieAccount(rlp: Uint8Array): TrieAccount {
  const [nonce, balance, storageRoot, codeHash] = RLP.decode(rlp) as Uint8Array[]
  return { nonce: bytesToBigInt(nonce), balance: bytesToBigInt(balance), storageRoot, codeHash }
}

/** A state that consists of trie nodes and codes alone. */
export interface WitnessState extends StateProvider {
  /** The root after the changes, insertions first, by the package's trie. @throws Error if a node lacks */
  rootAfter(touched: readonly TouchedAccount[]): Promise<Uint8Array>
  /** Addresses, and `address slot`, that were read and whose nodes lack: hex. They were read as absent. */
  readonly lacking: ReadonlySet<string>
  /** RLP of the nodes that nothing has read so far. */
  unusedNodes(): Uint8Array[]
}

class MissingNode extends Error {}

/** Nodes of a trie by their hash; notes the ones that were read. */
class UsedNodes extends MapDB<string, Uint8Array> {
  readonly used = new Set<string>()

  override async get(key: Uint8Array | string): Promise<Uint8Array | undefined> {
    this.used.add(typeof key === 'string' ? key : Buffer.from(key).toString('hex'))
    return super.get(key as string)
  }

  /** Copies of a trie read the same nodes. */
  override shallowCopy(): this {
    return this
  }
}

/** The state of that root in a witness. Throws where a code lacks. */
export function createWitnessState(
  { state, codes }: { state: readonly Uint8Array[]; codes: readonly Uint8Array[] },
  root: Uint8Array,
): WitnessState {
  const nodes = new Map(state.map((rlp) => [keyOfBytes(keccak256(rlp)), rlp]))
  const db = new UsedNodes()
  const lacking = new Set<string>()
  /** Reads what the interpreter loads before it knows that it has no use for it. */
  const attempt = <T>(key: string, read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof MissingNode)) throw error
      lacking.add(key)
      return undefined
    }
  }
  const codesByHash = new Map(codes.map((code) => [keyOfBytes(keccak256(code)), code]))
  const resolve = (child: Node): Node => {
    if (Array.isArray(child)) return child
    const rlp = nodes.get(keyOfBytes(child))
    const hash = Buffer.from(child).toString('hex')
    if (rlp === undefined) throw new MissingNode(`the witness lacks the node ${hash}`)
    db.used.add(hash)
    return RLP.decode(rlp) as Node[]
  }
  const read = (top: Uint8Array, key: Uint8Array): Uint8Array | undefined => {
    if (equalBytes(top, EMPTY_TRIE_ROOT)) return undefined
    let path = Buffer.from(keccak256(key)).toString('hex')
    let node = resolve(top) as Node[]
    for (;;) {
      if (node.length === 17) {
        const child = node[Number.parseInt(path[0], 16)]
        path = path.slice(1)
        if (child.length === 0) return undefined
        node = resolve(child) as Node[]
        continue
      }
      const [encoded, value] = node
      const hex = Buffer.from(encoded as Uint8Array).toString('hex')
      const flag = Number.parseInt(hex[0], 16)
      const nibbles = hex.slice(flag & 1 ? 1 : 2)
      if (!path.startsWith(nibbles)) return undefined
      if (flag >= 2) return value as Uint8Array
      path = path.slice(nibbles.length)
      node = resolve(value) as Node[]
    }
  }
  const account = (address: Uint8Array): TrieAccount | undefined => {
    const rlp = read(root, address)
    return rlp && decodeTrieAccount(rlp)
  }
  const storageRoot = (address: Uint8Array) => account(address)?.storageRoot ?? EMPTY_TRIE_ROOT
  return {
    account: (address) => {
      const found = attempt(formatData(address), () => account(address))
      return found && { incarnation: 0, account: found }
    },
    storage: (address, slot) => {
      const key = `${formatData(address)} ${formatData(padLeft(slot, 32))}`
      const value = attempt(key, () => read(storageRoot(address), slot))
      return value === undefined ? EMPTY_BYTES : (RLP.decode(value) as Uint8Array)
    },
    code: (hash) => {
      const code = codesByHash.get(keyOfBytes(hash))
      if (code === undefined) throw new Error(`the witness lacks the code ${Buffer.from(hash).toString('hex')}`)
      return code
    },
    hasStorage: (address) => !equalBytes(storageRoot(address), EMPTY_TRIE_ROOT),
    rootAfter: async (touched) => {
      const trie = new MerklePatriciaTrie({ useKeyHashing: true, db })
      await updateMPTFromMerkleProof(trie, [...state])
      trie.root(root)
      const ordered = [...touched].sort((a, b) => Number(a.account === null) - Number(b.account === null))
      for (const { address, account: now, cleared, slots } of ordered) {
        const before = account(address)
        if (now === null) {
          if (before !== undefined) await trie.del(address)
          continue
        }
        const storage = trie.shallowCopy(false)
        storage.root(cleared ? EMPTY_TRIE_ROOT : (before?.storageRoot ?? EMPTY_TRIE_ROOT))
        for (const { slot, value } of slots) if (value.length > 0) await storage.put(slot, RLP.encode(value))
        for (const { slot, value } of slots) if (value.length === 0) await storage.del(slot)
        const { nonce, balance, codeHash = EMPTY_CODE_HASH } = now
        const fields = [bigIntToBytes(nonce), bigIntToBytes(balance), storage.root(), codeHash]
        await trie.put(address, RLP.encode(fields))
      }
      return trie.root()
    },
    lacking,
    unusedNodes: () => state.filter((rlp) => !db.used.has(Buffer.from(keccak256(rlp)).toString('hex'))),
  }
}
