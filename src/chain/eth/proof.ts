import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { keccak256 } from '../crypto.js'
import { asBytes, asFixed, asList, asUint, DecodeError, decodeRlp, type RlpItem } from './rlp.js'
import type { StateAccount } from './stateAccount.js'
import { EMPTY_TRIE_ROOT } from './trie.js'
import { type ChildNode, type DecodedNode, decodeTrieNode, NO_CHILD, toNibbles } from './trieNodes.js'

/** An account as its leaf of the state trie has it. */
export interface ProvedAccount extends StateAccount {
  readonly storageRoot: Uint8Array // 32; `EMPTY_TRIE_ROOT` without storage
}

// A branch whose 16 children are nodes of less than 32 bytes each, in which nodes are nested again.
const MAX_NODE_ITEMS = 1024

/** Nodes that several proofs share: each array is hashed and decoded once. */
export class ProofNodes {
  readonly #hashes = new Map<Uint8Array, Uint8Array>()
  readonly #decoded = new Map<Uint8Array, DecodedNode>()

  /** The Keccak-256 of the RLP of a node. */
  hash(rlp: Uint8Array): Uint8Array {
    const known = this.#hashes.get(rlp)
    if (known !== undefined) return known
    const hash = keccak256(rlp)
    this.#hashes.set(rlp, hash)
    return hash
  }

  /** Decodes the RLP of a node. @throws DecodeError at `path` when it is not one of a trie with keys of 32 bytes */
  decode(rlp: Uint8Array, path: string): DecodedNode {
    const known = this.#decoded.get(rlp)
    if (known !== undefined) return known
    const node = decodeTrieNode(decodeRlp(rlp, path, MAX_NODE_ITEMS), path)
    this.#decoded.set(rlp, node)
    return node
  }
}

/** Verifies a Merkle proof of an account (EIP-1186): `proof` has the RLP of each node from the root to the leaf, or to
 *  where the path of keccak-256(address) ends. Nodes inside their parent may be listed or not.
 *  @param stateRoot 32 bytes @param address 20 bytes @param nodes those of other proofs, to which these are added
 *  @returns the fields of the account; undefined when the proof shows that it does not exist
 *  @throws DecodeError naming the node, for one with another hash, a malformed, missing or further one */
export function verifyAccountProof({
  stateRoot,
  address,
  proof,
  nodes = new ProofNodes(),
}: {
  stateRoot: Uint8Array
  address: Uint8Array
  proof: readonly Uint8Array[]
  nodes?: ProofNodes
}): ProvedAccount | undefined {
  const value = verifyPath({ root: stateRoot, key: keccak256(address), nodes }, proof)
  return value === undefined ? undefined : decodeAccount(value)
}

/** Verifies a Merkle proof of a storage slot, as `verifyAccountProof` does. The proof of an empty storage may be empty.
 *  @param storageRoot 32 bytes @param slot 32 bytes @param nodes those of other proofs, to which these are added
 *  @returns the value without leading zeros; no bytes when the proof shows that the slot is zero
 *  @throws DecodeError naming the node */
export function verifyStorageProof({
  storageRoot,
  slot,
  proof,
  nodes = new ProofNodes(),
}: {
  storageRoot: Uint8Array
  slot: Uint8Array
  proof: readonly Uint8Array[]
  nodes?: ProofNodes
}): Uint8Array {
  const value = verifyPath({ root: storageRoot, key: keccak256(slot), nodes }, proof)
  return value === undefined ? EMPTY_BYTES : decodeSlotValue(value)
}

/** Decodes the value of a leaf of a storage trie: 1 to 32 bytes without leading zeros. @throws DecodeError at
 *  `value` */
export function decodeSlotValue(rlp: Uint8Array): Uint8Array {
  const item = decodeRlp(rlp, 'value', 1)
  if (asUint(item, 32, 'value') === 0n) throw new DecodeError('value', 'expected a value other than zero, got zero')
  return asBytes(item, 'value')
}

/** Decodes the value of a leaf of the state trie: nonce, balance, storage root and code hash.
 *  @throws DecodeError at `account` */
export function decodeAccount(value: Uint8Array): ProvedAccount {
  const [nonce, balance, storageRoot, codeHash] = asList(decodeRlp(value, 'account', 4), 'account', 4, 4)
  return {
    nonce: asUint(nonce, 8, 'account.nonce'),
    balance: asUint(balance, 32, 'account.balance'),
    storageRoot: asFixed(storageRoot, 32, 'account.storageRoot'),
    codeHash: asFixed(codeHash, 32, 'account.codeHash'),
  }
}

/** Follows the path of a key of 32 bytes through the nodes of a proof. Returns the value of its leaf; undefined when
 *  the path ends before one. @throws DecodeError naming the node */
function verifyPath(
  { root, key, nodes }: { root: Uint8Array; key: Uint8Array; nodes: ProofNodes },
  proof: readonly Uint8Array[],
): Uint8Array | undefined {
  if (equalBytes(root, EMPTY_TRIE_ROOT)) {
    // Nodes prove an empty trie by no node, or by its RLP.
    const isEmpty = proof.length === 0 || (proof.length === 1 && equalBytes(proof[0], NO_CHILD))
    if (isEmpty) return undefined
    throw new DecodeError('proof', `expected no nodes of an empty trie, got ${proof.length}`)
  }
  const nibbles = toNibbles(key)
  let depth = 0
  let used = 0
  let next: ChildNode = root
  for (;;) {
    const at = `proof[${used}]`
    let node: DecodedNode
    if (next instanceof Uint8Array) {
      node = nodes.decode(requireHash(proof[used], { hash: next, nodes, at }), at)
      used++
    } else {
      node = decodeTrieNode(next, `proof[${used - 1}]`)
      if (used < proof.length && equalBytes(proof[used], next.raw)) used++
    }
    const end = follow(node, nibbles, depth, at)
    if ('value' in end) {
      if (used === proof.length) return end.value
      throw new DecodeError(`proof[${used}]`, `expected no node after the end of the path, got one of ${proof.length}`)
    }
    next = end.child
    depth = end.depth
  }
}

/** One step along the path: to a child, or to the end with the value or without. @throws DecodeError at `at` for paths
 *  that are longer or shorter than the key */
function follow(
  node: DecodedNode,
  nibbles: Uint8Array,
  depth: number,
  at: string,
): { child: ChildNode; depth: number } | { value: Uint8Array | undefined } {
  const left = nibbles.length - depth
  if (node.kind === 'branch') {
    if (left === 0) throw new DecodeError(at, 'expected a leaf at the end of the key, got a branch')
    const child = node.children[nibbles[depth]]
    return child === undefined ? { value: undefined } : { child, depth: depth + 1 }
  }
  const { path } = node
  if (node.kind === 'leaf' ? path.length !== left : path.length >= left) {
    throw new DecodeError(at, `expected a path within ${left} nibbles, got a ${node.kind} of ${path.length}`)
  }
  const isShared = path.every((nibble, i) => nibble === nibbles[depth + i])
  if (node.kind === 'leaf') return { value: isShared ? node.value : undefined }
  return isShared ? { child: node.child, depth: depth + path.length } : { value: undefined }
}

function requireHash(
  rlp: Uint8Array | undefined,
  { hash, nodes, at }: { hash: Uint8Array; nodes: ProofNodes; at: string },
): Uint8Array {
  if (rlp === undefined) throw new DecodeError(at, `expected the node ${formatData(hash)}, got the end of the proof`)
  const actual = nodes.hash(rlp)
  if (equalBytes(actual, hash)) return rlp
  throw new DecodeError(at, `expected the node ${formatData(hash)}, got ${formatData(actual)}`)
}

/** Counts the nodes that no path from the state root leads to, through the state trie and the storage tries of its
 *  accounts. 0 for a witness that only lacks nodes; a changed node is unreachable, and so is what only it leads to.
 *  Equal nodes count once, the RLP of an empty trie does not.
 *  @param nodes RLP of each @param root the state root, 32 bytes */
export function unreachableNodes(nodes: readonly Uint8Array[], root: Uint8Array): number {
  return walkNodes(nodes, root, () => {})
}

/** Returns the nodes that paths from the state root lead to, each once, as `unreachableNodes` follows them. */
export function reachableNodes(nodes: readonly Uint8Array[], root: Uint8Array): Uint8Array[] {
  const reached: Uint8Array[] = []
  walkNodes(nodes, root, (rlp) => reached.push(rlp))
  return reached
}

/** Passes each node that is reached to `onNode`. @returns how many others there are */
function walkNodes(nodes: readonly Uint8Array[], root: Uint8Array, onNode: (rlp: Uint8Array) => void): number {
  const byHash = new Map(nodes.map((rlp) => [formatData(keccak256(rlp)), rlp]))
  byHash.delete(formatData(EMPTY_TRIE_ROOT))
  const pending: { hash: Uint8Array; isStorage: boolean }[] = [{ hash: root, isStorage: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { hash, isStorage } = next
    const name = formatData(hash)
    const rlp = byHash.get(name)
    if (rlp === undefined) continue
    byHash.delete(name)
    onNode(rlp)
    visit(rlp, (child) => pending.push({ hash: child, isStorage }), isStorage ? undefined : pending)
  }
  return byHash.size
}

/** Passes to `add` the hashes that a node refers to, and to `storages` the storage roots of accounts in it. A node that
 *  cannot be decoded refers to nothing. */
function visit(
  rlp: Uint8Array,
  add: (hash: Uint8Array) => void,
  storages: { hash: Uint8Array; isStorage: boolean }[] | undefined,
): void {
  const visitItem = (item: RlpItem): void => {
    if (item instanceof Uint8Array) {
      if (item.length === 32) add(item)
      return
    }
    const node = decodeTrieNode(item)
    if (node.kind === 'branch') {
      for (const child of node.children) if (child !== undefined) visitItem(child)
    } else if (node.kind === 'extension') visitItem(node.child)
    else if (storages) storages.push({ hash: decodeAccount(node.value).storageRoot, isStorage: true })
  }
  try {
    visitItem(decodeRlp(rlp, 'node', MAX_NODE_ITEMS))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
  }
}
