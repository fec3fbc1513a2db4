import { keyOfBytes } from '../lib/bytes.js'
import { type AbiItem, hashSignature } from './abiItems.js'

const PUSH1 = 0x60
const PUSH32 = 0x7f

/** Returns the functions and events of the items that the code names: it pushes their selectors, or the hashes of their
 *  signatures. Keeps their order. */
export function itemsInCode(items: readonly AbiItem[], code: Uint8Array): AbiItem[] {
  const { selectors, hashes } = pushedNames(code)
  if (selectors.size === 0) return []
  return items.filter((item) => {
    if (item.type === 'error') return false
    const hash = hashSignature(item.signature)
    return item.type === 'function' ? selectors.has(keyOfBytes(hash.subarray(0, 4))) : hashes.has(keyOfBytes(hash))
  })
}

/** Keys of the 4-byte and 32-byte constants that the code pushes. Compilers push a selector with a leading zero byte by
 *  PUSH3. */
function pushedNames(code: Uint8Array): { selectors: Set<string>; hashes: Set<string> } {
  const selectors = new Set<string>()
  const hashes = new Set<string>()
  for (let at = 0; at < code.length; at++) {
    const size = code[at] >= PUSH1 && code[at] <= PUSH32 ? code[at] - PUSH1 + 1 : 0
    const pushed = code.subarray(at + 1, at + 1 + size)
    if (size === 4) selectors.add(keyOfBytes(pushed))
    else if (size === 3) selectors.add(keyOfBytes(Uint8Array.of(0, ...pushed)))
    else if (size === 32) hashes.add(keyOfBytes(pushed))
    at += size
  }
  return { selectors, hashes }
}
