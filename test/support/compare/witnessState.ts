import { MerklePatriciaTrie, updateMPTFromMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import type { StateProvider } from '../../../src/evm/state/stateProvider.js'
import { bigIntToBytes, bytesToBigInt, EMPTY_BYTES, equalBytes, keyOfBytes } from '../../../src/lib/bytes.js'
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
  /** The root after the changes, by the package's trie. @throws Error if a node lacks */
  rootAfter(touched: readonly TouchedAccount[]): Promise<Uint8Array>
}

/** The state of that root in a witness. Reads throw where a node or a code lacks. */
export function createWitnessState(
  { state, codes }: { state: readonly Uint8Array[]; codes: readonly Uint8Array[] },
  root: Uint8Array,
): WitnessState {
  const nodes = new Map(state.map((rlp) => [keyOfBytes(keccak256(rlp)), rlp]))
  const codesByHash = new Map(codes.map((code) => [keyOfBytes(keccak256(code)), code]))
  const resolve = (child: Node): Node => {
    if (Array.isArray(child)) return child
    const rlp = nodes.get(keyOfBytes(child))
    if (rlp === undefined) throw new Error(`the witness lacks the node ${Buffer.from(child).toString('hex')}`)
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
      const found = account(address)
      return found && { incarnation: 0, account: found }
    },
    storage: (address, slot) => {
      const value = read(storageRoot(address), slot)
      return value === undefined ? EMPTY_BYTES : (RLP.decode(value) as Uint8Array)
    },
    code: (hash) => {
      const code = codesByHash.get(keyOfBytes(hash))
      if (code === undefined) throw new Error(`the witness lacks the code ${Buffer.from(hash).toString('hex')}`)
      return code
    },
    hasStorage: (address) => !equalBytes(storageRoot(address), EMPTY_TRIE_ROOT),
    rootAfter: async (touched) => {
      const trie = new MerklePatriciaTrie({ useKeyHashing: true })
      await updateMPTFromMerkleProof(trie, [...state])
      trie.root(root)
      for (const { address, account: now, cleared, slots } of touched) {
        const before = account(address)
        if (now === null) {
          if (before !== undefined) await trie.del(address)
          continue
        }
        const storage = trie.shallowCopy(false)
        storage.root(cleared ? EMPTY_TRIE_ROOT : (before?.storageRoot ?? EMPTY_TRIE_ROOT))
        for (const { slot, value } of slots) {
          if (value.length === 0) await storage.del(slot)
          else await storage.put(slot, RLP.encode(value))
        }
        const { nonce, balance, codeHash = EMPTY_CODE_HASH } = now
        const fields = [bigIntToBytes(nonce), bigIntToBytes(balance), storage.root(), codeHash]
        await trie.put(address, RLP.encode(fields))
      }
      return trie.root()
    },
  }
}
