import { keccak256 } from '../../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { decodeSlotValue } from '../../chain/eth/proof.js'
import { EMPTY_BYTES, equalBytes, trimLeft } from '../../lib/bytes.js'
import { messageOf } from '../../lib/errors.js'
import { abbreviate, formatData } from '../../lib/hex.js'
import { DumpText, StateDumpError } from './dumpText.js'

/* State dumps are JSON lines: the state root, then an object for each account.
 *
 * `geth snapshot dump` has the hash of each address as `key`, hashes of slots, and RLP of their values; code as bytes.
 * `geth dump --iterative` has addresses beside the hashes, slots and their values. The files of `reth init-state` have
 * addresses, slots and values, and neither hashes nor roots. Members come in any order, `storage` before the key. */

/** How keys are written: by `hash`, with RLP of values, or by `address` and slot, with values. */
export type DumpForm = 'hash' | 'address'

/** A slot by its hash, 32 bytes, with its value without leading zeros. */
export interface DumpSlot {
  readonly hash: Uint8Array
  readonly value: Uint8Array
}

/** An account of a dump. */
export interface DumpAccount {
  readonly hash: Uint8Array // 32, of the address
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Uint8Array // 32, of the code
  /** Undefined without code. */
  readonly code?: Uint8Array
  /** As the dump says; undefined where it does not. */
  readonly storageRoot?: Uint8Array
}

/** Slots come before the account that they are of. */
export type DumpItem =
  | { readonly kind: 'root'; readonly root: Uint8Array }
  | { readonly kind: 'slots'; readonly slots: readonly DumpSlot[] }
  | { readonly kind: 'account'; readonly account: DumpAccount }

/** Where to read on: the begin of a line. */
export interface DumpPosition {
  readonly offset: number
  readonly line: number
  /** Undefined before the first account. */
  readonly form?: DumpForm
}

/** The begin of a dump. */
export const DUMP_START: DumpPosition = { offset: 0, line: 1 }

// Slots of one item.
const MAX_SLOTS = 10_000
// Slots of the first account, whose form is known at the end of its line only.
const MAX_WAITING = 1_000_000

interface Members {
  balance?: bigint
  nonce?: bigint
  root?: Uint8Array
  codeHash?: Uint8Array
  code?: Uint8Array
  storage?: true
  address?: Uint8Array
  key?: Uint8Array
}

/** A state dump, read piece by piece. */
export class StateDumpFile {
  private readonly text: DumpText
  private form: DumpForm | undefined
  /** Of the item. */
  private line: number
  /** Slots that were read and not returned: bytes of the value as written. */
  private waiting: { key: Uint8Array; value: Uint8Array }[] = []

  /** Opens a file, `-` for standard input. @throws UsageError, StateDumpError */
  constructor(path: string, { offset, line, form }: DumpPosition = DUMP_START) {
    this.text = new DumpText(path, { offset, line })
    this.form = form
    this.line = line
  }

  get path(): string {
    return this.text.path
  }

  /** The begin of the next line, after a root or an account. */
  get position(): DumpPosition {
    return { offset: this.text.offset, line: this.text.line, form: this.form }
  }

  /** @throws StateDumpError about the line of the last item */
  fail(field: string, problem: string): never {
    throw new StateDumpError({ path: this.path, line: this.line, field }, problem)
  }

  close(): void {
    this.text.close()
  }

  /** Yields the items from the position on. @throws StateDumpError for the first line that cannot be used */
  *items(): Generator<DumpItem> {
    const { text } = this
    while (text.skipEmptyLines()) {
      this.line = text.line
      if (!text.skipIf('{')) this.fail('the line', `expected a JSON object, got ${text.describeNext()}`)
      const members: Members = {}
      if (!text.skipIf('}')) {
        do yield* this.member(members)
        while (text.skipIf(','))
        text.expect('}', 'the line')
      }
      if (isRootLine(members)) yield { kind: 'root', root: this.endLine(members.root!) }
      else {
        const account = this.accountOf(members)
        yield* this.slots()
        yield { kind: 'account', account: this.endLine(account) }
      }
    }
  }

  private endLine<T>(value: T): T {
    this.text.endLine()
    return value
  }

  private *member(members: Members): Generator<DumpItem> {
    const { text } = this
    const name = Buffer.from(text.text('the line')).toString('latin1')
    text.expect(':', name)
    if (Object.hasOwn(members, name)) this.fail(name, 'it appears twice')
    if (text.skipNull(name)) return
    if (name === 'balance') members.balance = this.quantity(name, 256)
    else if (name === 'nonce') members.nonce = this.quantity(name, 64)
    else if (name === 'root' || name === 'codeHash' || name === 'key') members[name] = this.fixed(name, 32)
    else if (name === 'address') members.address = this.fixed(name, 20)
    else if (name === 'code') members.code = this.data(name).slice()
    else if (name === 'storage') {
      members.storage = true
      yield* this.storage()
    } else if (name === 'accounts') {
      this.fail(
        name,
        'expected a line for each account; make the dump with geth snapshot dump, or geth dump --iterative',
      )
    } else {
      this.fail(name, 'unknown member; expected balance, nonce, root, codeHash, code, storage, address or key')
    }
  }

  private *storage(): Generator<DumpItem> {
    const { text } = this
    text.expect('{', 'storage')
    if (text.skipIf('}')) return
    do {
      const key = this.fixed('storage', 32)
      text.expect(':', 'storage')
      const value = this.data('storage', () => ` of ${formatData(key)}`).slice()
      this.waiting.push({ key, value })
      if (this.form !== undefined && this.waiting.length >= MAX_SLOTS) yield* this.slots()
      else if (this.waiting.length > MAX_WAITING) {
        this.fail('storage', `the first account has more than ${MAX_WAITING} slots: move another line before it`)
      }
    } while (text.skipIf(','))
    text.expect('}', 'storage')
  }

  /** Yields the slots that wait. */
  private *slots(): Generator<DumpItem> {
    const { waiting, form } = this
    this.waiting = []
    for (let from = 0; from < waiting.length; from += MAX_SLOTS) {
      const slots = waiting.slice(from, from + MAX_SLOTS).map(({ key, value }) => {
        const slot =
          form === 'hash'
            ? { hash: key, value: this.decodeValue(key, value) }
            : { hash: keccak256(key), value: trimLeft(value) }
        if (slot.value.length > 0 && slot.value.length <= 32) return slot
        return this.fail(
          `storage["${formatData(key)}"]`,
          `expected a value above 0 of up to 32 bytes, got ${formatData(value)}`,
        )
      })
      yield { kind: 'slots', slots }
    }
  }

  private decodeValue(key: Uint8Array, rlp: Uint8Array): Uint8Array {
    try {
      return decodeSlotValue(rlp)
    } catch (error) {
      return this.fail(
        `storage["${formatData(key)}"]`,
        `expected RLP of a value, got ${formatData(rlp)}: ${messageOf(error)}`,
      )
    }
  }

  private accountOf({ balance, nonce = 0n, root, codeHash, code = EMPTY_BYTES, address, key }: Members): DumpAccount {
    if (balance === undefined) this.fail('balance', 'it is missing')
    if (key === undefined && address === undefined) this.fail('key', 'expected key or address, got neither')
    const form = address === undefined ? 'hash' : 'address'
    this.form ??= form
    if (form !== this.form) {
      const missing = 'address: geth lacks some preimages; use geth snapshot dump, which needs none'
      this.fail(
        'address',
        form === 'hash' ? `it is missing, and earlier lines have an ${missing}` : 'earlier lines have none',
      )
    }
    const hash = address === undefined ? key! : keccak256(address)
    if (key !== undefined && !equalBytes(key, hash)) {
      this.fail('key', `expected the hash of the address, ${formatData(hash)}, got ${formatData(key)}`)
    }
    const computed = code.length === 0 ? EMPTY_CODE_HASH : keccak256(code)
    if (codeHash !== undefined && !equalBytes(codeHash, computed)) {
      const wanted = `with the hash ${formatData(codeHash)}`
      if (code.length === 0) this.fail('code', `it is missing: expected code ${wanted}; make the dump without --nocode`)
      this.fail('code', `expected code ${wanted}, got one with ${formatData(computed)}`)
    }
    return { hash, nonce, balance, codeHash: computed, code: code.length === 0 ? undefined : code, storageRoot: root }
  }

  /** An integer of at most `bits` bits: decimal, or hex with 0x. */
  private quantity(field: string, bits: number): bigint {
    const text = this.text.textOrDigits(field)
    const isNumber = /^(?:[0-9]{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)
    const value = isNumber ? BigInt(text) : undefined
    if (value !== undefined && value < 1n << BigInt(bits)) return value
    return this.fail(field, `expected an integer below 2^${bits}, got ${JSON.stringify(abbreviate(text))}`)
  }

  private fixed(field: string, length: number): Uint8Array {
    const bytes = this.data(field)
    if (bytes.length === length) return bytes
    return this.fail(field, `expected ${length} bytes of hex, got ${abbreviate(formatData(bytes))}`)
  }

  /** Hex with or without 0x, with an even number of digits. */
  private data(field: string, of = () => ''): Uint8Array {
    const text = this.text.text(field)
    const bytes = decodeHex(text)
    if (bytes !== undefined) return bytes
    const got = abbreviate(Buffer.from(text).toString('latin1'))
    return this.fail(field + of(), `expected an even number of hex digits, got ${JSON.stringify(got)}`)
  }
}

function isRootLine({ root, balance, key, address }: Members): boolean {
  return root !== undefined && balance === undefined && key === undefined && address === undefined
}

// Values of digits by character; 255: none.
const DIGITS = new Uint8Array(256).fill(255)
for (let i = 0; i < 16; i++) {
  DIGITS[i.toString(16).charCodeAt(0)] = i
  DIGITS[i.toString(16).toUpperCase().charCodeAt(0)] = i
}

/** Decodes hex digits, with or without 0x; undefined unless they are an even number. */
function decodeHex(text: Uint8Array): Uint8Array | undefined {
  const from = text[0] === 0x30 && text[1] === 0x78 ? 2 : 0
  if ((text.length - from) % 2 !== 0) return undefined
  const bytes = new Uint8Array((text.length - from) / 2)
  for (let i = 0, at = from; i < bytes.length; i++, at += 2) {
    const [high, low] = [DIGITS[text[at]], DIGITS[text[at + 1]]]
    if ((high | low) > 15) return undefined
    bytes[i] = (high << 4) | low
  }
  return bytes
}
