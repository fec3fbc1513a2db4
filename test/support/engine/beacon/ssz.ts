import { createHash } from 'node:crypto'

/* Hash tree roots of SSZ (consensus-specs, ssz/simple-serialize.md), as far as beacon blocks need them. Nodes and
 * roots have 32 bytes. */

const sha256Pair = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  createHash('sha256').update(left).update(right).digest()

const ZEROS: Uint8Array[] = [new Uint8Array(32)]
for (let depth = 0; depth < 32; depth++) ZEROS.push(sha256Pair(ZEROS[depth], ZEROS[depth]))

/** Root of a tree with 2^depth leaves, the last ones zero. */
export function merkleize(leaves: readonly Uint8Array[], depth: number): Uint8Array {
  let level = [...leaves]
  for (let height = 0; height < depth; height++) {
    const next: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) next.push(sha256Pair(level[i], level[i + 1] ?? ZEROS[height]))
    level = next
  }
  return level[0] ?? ZEROS[depth]
}

/** The siblings from leaf `index` up to the root of that tree. */
export function branchOf(leaves: readonly Uint8Array[], depth: number, index: number): Uint8Array[] {
  const branch: Uint8Array[] = []
  let level = [...leaves]
  for (let height = 0; height < depth; height++) {
    branch.push(level[(index >> height) ^ 1] ?? ZEROS[height])
    const next: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) next.push(sha256Pair(level[i], level[i + 1] ?? ZEROS[height]))
    level = next
  }
  return branch
}

/** Leaf of a number below 2^256, little-endian. */
export function numberLeaf(value: bigint | number): Uint8Array {
  const leaf = new Uint8Array(32)
  let rest = BigInt(value)
  for (let i = 0; rest > 0n; i++, rest >>= 8n) leaf[i] = Number(rest & 0xffn)
  return leaf
}

/** Root of a vector of bytes. */
export function bytesRoot(bytes: Uint8Array): Uint8Array {
  const leaves = chunksOf(bytes)
  return merkleize(leaves, depthOf(leaves.length))
}

/** Root of a list of at most `limit` elements, from their roots. */
export function listRoot(roots: readonly Uint8Array[], limit: number): Uint8Array {
  return sha256Pair(merkleize(roots, depthOf(limit)), numberLeaf(roots.length))
}

/** Root of a list of at most `limit` bytes. */
export function byteListRoot(bytes: Uint8Array, limit: number): Uint8Array {
  return sha256Pair(merkleize(chunksOf(bytes), depthOf(Math.ceil(limit / 32))), numberLeaf(bytes.length))
}

/** Root of a container, from the roots of its members. */
export function containerRoot(members: readonly Uint8Array[]): Uint8Array {
  return merkleize(members, depthOf(members.length))
}

const depthOf = (leaves: number): number => Math.ceil(Math.log2(Math.max(1, leaves)))

function chunksOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / 32) }, (_, i) => {
    const chunk = new Uint8Array(32)
    chunk.set(bytes.subarray(32 * i, 32 * i + 32))
    return chunk
  })
}
