import { padLeft, trimLeft } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { asBytes, asFixed, asList, asSafeInteger, asUint, decodeRlp, type RlpItem, underPath } from './rlp.js'
import { RlpWriter } from './rlpWriter.js'

/** A value after the transaction `index`, from 1; 0 is before the first one, one more than their number after the
 *  last. */
export interface IndexedChange<T> {
  readonly index: number
  readonly value: T
}

/** A block's accesses to one account, with the values that it leaves (EIP-7928). */
export interface AccountAccess {
  readonly address: Uint8Array // 20
  /** Changes by slot, 32 bytes; values have no leading zeros. */
  readonly storageChanges: readonly {
    readonly slot: Uint8Array
    readonly changes: readonly IndexedChange<Uint8Array>[]
  }[]
  /** Slots that are read only, 32 bytes each. */
  readonly storageReads: readonly Uint8Array[]
  readonly balanceChanges: readonly IndexedChange<bigint>[]
  readonly nonceChanges: readonly IndexedChange<bigint>[]
  readonly codeChanges: readonly IndexedChange<Uint8Array>[]
}

/** The access list of a block: accounts by address, slots by number, changes by index, each ascending (EIP-7928). */
export type BlockAccessList = readonly AccountAccess[]

/** Gas of the block's limit for each address and slot of its access list (EIP-7928). */
export const GAS_PER_ACCESS = 2000n

/** Addresses and slots in the list. */
export function countAccesses(list: BlockAccessList): number {
  let count = list.length
  for (const { storageChanges, storageReads } of list) count += storageChanges.length + storageReads.length
  return count
}

/** RLP of the list. Its Keccak-256 is the header's `blockAccessListHash`. */
export function encodeBlockAccessList(list: BlockAccessList): Uint8Array {
  const out = new RlpWriter()
  const writeChanges = (changes: readonly IndexedChange<bigint | Uint8Array>[]) => {
    const end = out.begin()
    for (let i = changes.length - 1; i >= 0; i--) {
      const { index, value } = changes[i]
      const pair = out.begin()
      if (typeof value === 'bigint') out.integer(value)
      else out.string(value)
      out.small(index)
      out.end(pair)
    }
    out.end(end)
  }
  const writeSlots = ({ storageChanges, storageReads }: AccountAccess) => {
    const reads = out.begin()
    for (let i = storageReads.length - 1; i >= 0; i--) out.string(trimLeft(storageReads[i]))
    out.end(reads)
    const all = out.begin()
    for (let i = storageChanges.length - 1; i >= 0; i--) {
      const { slot, changes } = storageChanges[i]
      const one = out.begin()
      writeChanges(changes)
      out.string(trimLeft(slot))
      out.end(one)
    }
    out.end(all)
  }
  const whole = out.begin()
  for (let i = list.length - 1; i >= 0; i--) {
    const access = list[i]
    const account = out.begin()
    writeChanges(access.codeChanges)
    writeChanges(access.nonceChanges)
    writeChanges(access.balanceChanges)
    writeSlots(access)
    out.string(access.address)
    out.end(account)
  }
  out.end(whole)
  return out.bytes()
}

/** A list from its RLP. The order of its entries is not checked. @throws DecodeError naming the entry */
export function decodeBlockAccessList(bytes: Uint8Array): BlockAccessList {
  try {
    return asList(decodeRlp(bytes, ''), '').map((item, index) => readAccount(item, `[${index}]`))
  } catch (error) {
    throw underPath('blockAccessList', error)
  }
}

function readAccount(item: RlpItem, path: string): AccountAccess {
  const fields = asList(item, path, 6, 6)
  const slot = (value: RlpItem, at: string) => padLeft(readMinimal(value, at), 32)
  const changes = <T>(value: RlpItem, at: string, read: (value: RlpItem, at: string) => T) =>
    asList(value, at).map((change, index) => {
      const [number, content] = asList(change, `${at}[${index}]`, 2, 2)
      return { index: asSafeInteger(number, `${at}[${index}].index`), value: read(content, `${at}[${index}].value`) }
    })
  return {
    address: asFixed(fields[0], 20, `${path}.address`),
    storageChanges: asList(fields[1], `${path}.storageChanges`).map((entry, index) => {
      const at = `${path}.storageChanges[${index}]`
      const [key, values] = asList(entry, at, 2, 2)
      return { slot: slot(key, `${at}.slot`), changes: changes(values, `${at}.changes`, readMinimal) }
    }),
    storageReads: asList(fields[2], `${path}.storageReads`).map((key, index) =>
      slot(key, `${path}.storageReads[${index}]`),
    ),
    balanceChanges: changes(fields[3], `${path}.balanceChanges`, (value, at) => asUint(value, 32, at)),
    nonceChanges: changes(fields[4], `${path}.nonceChanges`, (value, at) => asUint(value, 8, at)),
    codeChanges: changes(fields[5], `${path}.codeChanges`, asBytes),
  }
}

/** Bytes of an integer of at most 256 bits. */
function readMinimal(item: RlpItem, path: string): Uint8Array {
  asUint(item, 32, path)
  return asBytes(item, path)
}

/** Returns the first difference of two lists in the order of their encoding, both sides as text; undefined if equal. */
export function firstDifference(
  expected: BlockAccessList,
  actual: BlockAccessList,
): { entry: string; expected: string; actual: string } | undefined {
  const [ours, theirs] = [describe(expected), describe(actual)]
  for (let i = 0; i < Math.max(ours.length, theirs.length); i++) {
    const [own, other] = [ours[i], theirs[i]]
    if (own?.entry === other?.entry && own?.value === other?.value) continue
    // Only one list has the entry; the other continues with a later one.
    const isSame = own?.entry === other?.entry
    const entry = isSame || own !== undefined ? own.entry : other.entry
    return {
      entry,
      expected: own?.value ?? 'none',
      actual: isSame ? other.value : (other?.entry ?? 'the end of the list'),
    }
  }
  return undefined
}

/** Returns the list as one line per entry. */
function describe(list: BlockAccessList): { entry: string; value: string }[] {
  const lines: { entry: string; value: string }[] = []
  const show = (value: bigint | Uint8Array) => (typeof value === 'bigint' ? value.toString() : formatData(value))
  for (const access of list) {
    const account = formatData(access.address)
    const add = (kind: string, changes: readonly IndexedChange<bigint | Uint8Array>[]) => {
      for (const { index, value } of changes)
        lines.push({ entry: `${account}: ${kind} at ${index}`, value: show(value) })
    }
    lines.push({ entry: account, value: 'the account' })
    for (const { slot, changes } of access.storageChanges) add(`change of slot ${formatData(slot)}`, changes)
    for (const slot of access.storageReads) {
      lines.push({ entry: `${account}: read of slot ${formatData(slot)}`, value: 'the slot' })
    }
    add('balance', access.balanceChanges)
    add('nonce', access.nonceChanges)
    add('code', access.codeChanges)
  }
  return lines
}
