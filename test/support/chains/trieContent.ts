import { formatData } from '../../../src/lib/hex.js'
import type { TrieNodeRef } from '../../../src/trie/nodeFormat.js'
import { childOf, linkedPage, unpackSlot } from '../../../src/trie/nodeRef.js'
import { storageOfPacked } from '../../../src/trie/stateTries.js'

/** Everything that is stored of a trie, but the ids of its pages: by the path to each node, its reference, whether it
 *  is a page, and its value if it is a leaf. With `hasStorage`, a leaf is an account, and its storage trie is listed
 *  too. */
export function contentOf(
  top: TrieNodeRef | undefined,
  read: (page: number) => Uint8Array,
  hasStorage = false,
): string[] {
  const lines: string[] = []
  const add = (slot: TrieNodeRef, path: string, isAccount: boolean) => {
    const node = unpackSlot(slot, read)
    if (node.kind === 'leaf') {
      const storage = isAccount ? storageOfPacked(node.value) : undefined
      const fields = node.value.subarray(0, node.value.length - (storage?.length ?? 0))
      lines.push(`${path} ${formatData(node.key)} ${formatData(fields)}`)
      if (storage !== undefined) add(storage, `${path}:`, false)
      return
    }
    if (node.kind === 'unknown') {
      lines.push(`${path} unknown ${node.skip && `+${[...node.skip]}`} ${formatData(node.hash)}`)
      return
    }
    const page = linkedPage(slot)
    const form = page === undefined ? 'inline' : `page of ${read(page).length} bytes`
    lines.push(`${path} +${[...node.skip]} ${form} ${formatData(slot.subarray(2, 2 + slot[1]))}`)
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = childOf(node, nibble)
      if (child !== undefined) add(child, `${path}.${nibble}`, isAccount)
    }
  }
  if (top !== undefined) add(top, '', hasStorage)
  return lines
}
