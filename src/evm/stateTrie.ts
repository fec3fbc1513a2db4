import { EMPTY_TRIE_ROOT } from '../chain/eth/trie.js'
import { encodeBranch, encodeExtension, encodeLeaf, NO_CHILD, referenceTo, toNibbles } from '../chain/eth/trieNodes.js'
import { concatBytes } from '../lib/bytes.js'
import { keccak256 } from '../lib/crypto.js'

/** A Merkle Patricia trie over keys of 32 bytes (Yellow Paper, appendix D), kept in memory and hashed lazily: a change
 *  forgets the references on its path, and `root` computes only those that are missing. Keys have one length, so a
 *  branch never holds a value. */
export interface StateTrie {
  /** Sets the value of a key; no bytes removes it. */
  put(key: Uint8Array, value: Uint8Array): void
  /** 32 bytes. */
  root(): Uint8Array
}

interface Leaf {
  kind: 'leaf'
  path: Uint8Array // nibbles below the parent
  value: Uint8Array
  reference?: Uint8Array
}
interface Extension {
  kind: 'extension'
  path: Uint8Array
  child: Branch
  reference?: Uint8Array
}
interface Branch {
  kind: 'branch'
  children: (Node | undefined)[]
  reference?: Uint8Array
}
type Node = Leaf | Extension | Branch

/** An empty trie. */
export function createStateTrie(): StateTrie {
  let top: Node | undefined
  return {
    put: (key, value) => {
      const path = toNibbles(key)
      top = value.length === 0 ? remove(top, path, 0) : insert(top, path, 0, value)
    },
    root: () => (top === undefined ? EMPTY_TRIE_ROOT : keccak256(encodeNode(top))),
  }
}

function insert(node: Node | undefined, path: Uint8Array, depth: number, value: Uint8Array): Node {
  if (node === undefined) return { kind: 'leaf', path: path.slice(depth), value }
  if (node.kind === 'branch') {
    const nibble = path[depth]
    node.children[nibble] = insert(node.children[nibble], path, depth + 1, value)
    node.reference = undefined
    return node
  }
  const common = sharedLength(node.path, path, depth)
  if (common === node.path.length) {
    if (node.kind === 'leaf') node.value = value
    else node.child = insert(node.child, path, depth + common, value) as Branch
    node.reference = undefined
    return node
  }
  const branch: Branch = { kind: 'branch', children: new Array(16) }
  branch.children[node.path[common]] = dropPath(node, common + 1)
  branch.children[path[depth + common]] = { kind: 'leaf', path: path.slice(depth + common + 1), value }
  return common === 0 ? branch : { kind: 'extension', path: path.slice(depth, depth + common), child: branch }
}

/** The node without the first `count` nibbles of its path. */
function dropPath(node: Leaf | Extension, count: number): Node {
  const path = node.path.slice(count)
  if (node.kind === 'leaf') return { kind: 'leaf', path, value: node.value }
  return path.length === 0 ? node.child : { kind: 'extension', path, child: node.child }
}

function remove(node: Node | undefined, path: Uint8Array, depth: number): Node | undefined {
  if (node === undefined) return undefined
  if (node.kind === 'leaf') {
    return sharedLength(node.path, path, depth) === node.path.length ? undefined : node
  }
  if (node.kind === 'extension') {
    if (sharedLength(node.path, path, depth) < node.path.length) return node
    return prepend(node.path, remove(node.child, path, depth + node.path.length)!)
  }
  const nibble = path[depth]
  const before = node.children[nibble]
  if (before === undefined) return node
  node.children[nibble] = remove(before, path, depth + 1)
  node.reference = undefined
  return node.children[nibble] === undefined ? collapse(node) : node
}

/** A branch with a single child is no branch: the child takes its place with the nibble before its path. */
function collapse(node: Branch): Node {
  let only = -1
  for (let i = 0; i < 16; i++) {
    if (node.children[i] === undefined) continue
    if (only >= 0) return node
    only = i
  }
  return prepend(Uint8Array.of(only), node.children[only]!)
}

function prepend(path: Uint8Array, node: Node): Node {
  if (node.kind === 'branch') return { kind: 'extension', path, child: node }
  const joined = concatBytes(path, node.path)
  return node.kind === 'leaf'
    ? { kind: 'leaf', path: joined, value: node.value }
    : { kind: 'extension', path: joined, child: node.child }
}

function sharedLength(nodePath: Uint8Array, path: Uint8Array, depth: number): number {
  let i = 0
  while (i < nodePath.length && nodePath[i] === path[depth + i]) i++
  return i
}

function encodeNode(node: Node): Uint8Array {
  if (node.kind === 'leaf') return encodeLeaf(node.path, node.value)
  if (node.kind === 'extension') return encodeExtension(node.path, referenceOf(node.child))
  const references: Uint8Array[] = new Array(16)
  for (let i = 0; i < 16; i++) {
    const child = node.children[i]
    references[i] = child === undefined ? NO_CHILD : referenceOf(child)
  }
  return encodeBranch(references)
}

function referenceOf(node: Node): Uint8Array {
  node.reference ??= referenceTo(encodeNode(node))
  return node.reference
}
