import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import {
  CALL,
  CALLCODE,
  CREATE,
  CREATE2,
  DELEGATECALL,
  isCreation,
  SELFDESTRUCT,
  STATICCALL,
} from '../../chain/eth/callOpcodes.js'
import { bigIntToBytes, bytesToBigInt } from '../../lib/bytes.js'
import { type Cursor, readAscending, readInteger, writeAscending, writeInteger } from '../../lib/varint.js'

/** A call, creation or SELFDESTRUCT of a transaction. `Address` is 20 bytes, or the id of an address. */
export interface CallTrace<Address = Uint8Array> {
  /** The instruction, of `TRACED_OPCODES`; CALL or CREATE for the message of a transaction. */
  readonly opcode: number
  /** Number of calls around it: 0 for the message of a transaction. */
  readonly depth: number
  /** The account that makes it; with DELEGATECALL and CALLCODE also the one whose state it runs on. */
  readonly from: Address
  /** The called account, the new contract, or the beneficiary. */
  readonly to: Address
  /** Wei; undefined for STATICCALL. DELEGATECALL has its caller's. */
  readonly value: bigint | undefined
  readonly gas: bigint
  readonly gasUsed: bigint
  /** A call of a precompile. */
  readonly isPrecompile: boolean
  /** Bytes of calldata or init code. */
  readonly inputLength: number
  /** The first four bytes of calldata, big-endian; undefined for shorter calldata, precompiles and creations. */
  readonly selector: number | undefined
  /** Bytes of return data, revert data or new code. */
  readonly outputLength: number
  /** Set if it failed, in geth's words. */
  readonly failure: string | undefined
  /** Hash of the new code, 32 bytes; undefined unless a creation succeeded. */
  readonly codeHash: Uint8Array | undefined
}

/** The opcodes of traces, by their number in rows. */
export const TRACED_OPCODES = [CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE, CREATE2, SELFDESTRUCT] as const

/** The failures that rows have as numbers, from 0 on. Others are texts of the block. Never change the order. */
const KNOWN_FAILURES = [
  'execution reverted',
  'out of gas',
  'insufficient balance for transfer',
  'max call depth exceeded',
  'invalid jump destination',
  'write protection',
  'return data out of bounds',
  'contract address collision',
  'nonce uint64 overflow',
  'max code size exceeded',
  'contract creation code storage out of gas',
  'invalid code: must not begin with 0xef',
  'precompiled contract failed',
  'gas uint64 overflow',
  'out of gas: out of gas',
  'invalid opcode: INVALID',
]

/* The calls of a block's transactions, as `data` of `traces`. Integers are LEB128. A block without transactions, or one
 * that was not executed, has no bytes.
 *
 *   ids: count, then the ascending ids of all addresses, each as its difference from the one before
 *   1 byte: 1 if the rest is deflated (RFC 1951), else 0
 *   failures: count, then length and UTF-8 of each
 *   calls, each before those below it; one without calls around it begins the next transaction:
 *     1 byte: bits 0 to 2 the opcode's number, then the bits below
 *     with LEAVES: by how much it is less deep than a call of the one before
 *     index of `from` in the ids, without calls around it only: elsewhere it follows from them
 *     index of `to`
 *     with VALUE: length and big-endian bytes of the wei; not of DELEGATECALL, whose value follows from its caller
 *     all but SELFDESTRUCT: gas, gas used, length of the input; with SELECTOR 4 bytes; length of the output
 *     with FAILED: number of the failure
 *     a creation without FAILED: 32 bytes, the hash of the code
 *   4 bytes, not deflated: CRC-32 of ids, failures, calls and the addresses, little-endian, because nothing else in the
 *     database has them */
const LEAVES = 0x08
const FAILED = 0x10
const VALUE = 0x20
const SELECTOR = 0x40
const PRECOMPILE = 0x80

const CRC_BYTES = 4
const ADDRESS_BYTES = 20
const HASH_BYTES = 32
const MAX_VALUE_BYTES = 32

const numberOfOpcode = new Map<number, number>(TRACED_OPCODES.map((opcode, number) => [opcode, number]))
const numberOfFailure = new Map(KNOWN_FAILURES.map((failure, number) => [failure, number]))

// Shorter ones do not become shorter. At level 1 the rows of a full block of 30 M gas take 0.2 ms and become about half
// as long or less; at level 9 they take ten times as long and are 2% shorter.
const MIN_DEFLATED_BYTES = 128
const DEFLATE = { level: 1 }
// Far above a block of nothing but calls.
const INFLATE = { maxOutputLength: 2 ** 29 }

/** Encodes the calls of a block's transactions, in the order in which they began. `addressOf` returns the 20 bytes of
 *  an id. */
export function encodeCallTraces(
  transactions: readonly (readonly CallTrace<number>[])[],
  addressOf: (id: number) => Uint8Array,
): Uint8Array {
  if (transactions.length === 0) return new Uint8Array(0)
  const { ids, texts } = collect(transactions)
  const head: number[] = []
  const indexOf = new Map<number, number>()
  writeAscending(head, ids)
  for (const [index, id] of ids.entries()) indexOf.set(id, index)
  const bytes: number[] = []
  writeInteger(bytes, texts.size)
  for (const text of texts.keys()) writeBytes(bytes, Buffer.from(text))
  let depth = -1
  for (const calls of transactions) {
    for (const call of calls) {
      const leaves = depth + 1 - call.depth
      depth = call.depth
      writeCall(bytes, call, { leaves, indexOf, failures: texts })
    }
  }
  const plain = Uint8Array.from(bytes)
  const deflated = plain.length < MIN_DEFLATED_BYTES ? plain : deflateRawSync(plain, DEFLATE)
  const isDeflated = deflated.length < plain.length
  const checksum = Buffer.alloc(CRC_BYTES)
  checksum.writeUInt32LE(checksumOf({ head: Uint8Array.from(head), body: plain, ids }, addressOf))
  return Buffer.concat([
    Uint8Array.from(head),
    Uint8Array.of(isDeflated ? 1 : 0),
    isDeflated ? deflated : plain,
    checksum,
  ])
}

/** The ids of all addresses, ascending, and the numbers of the failures that are not known ones. */
function collect(transactions: readonly (readonly CallTrace<number>[])[]) {
  const used = new Set<number>()
  const texts = new Map<string, number>()
  for (const calls of transactions) {
    for (const { depth, from, to, failure } of calls) {
      if (depth === 0) used.add(from)
      used.add(to)
      if (failure !== undefined && !numberOfFailure.has(failure) && !texts.has(failure)) {
        texts.set(failure, KNOWN_FAILURES.length + texts.size)
      }
    }
  }
  return { ids: Float64Array.from(used).sort(), texts }
}

/** The parts of a row that its checksum covers. */
interface RowParts {
  readonly head: Uint8Array
  /** Failures and calls, inflated. */
  readonly body: Uint8Array
  readonly ids: ArrayLike<number>
}

function checksumOf({ head, body, ids }: RowParts, addressOf: (id: number) => Uint8Array): number {
  const addresses = Buffer.alloc(ids.length * ADDRESS_BYTES)
  for (let i = 0; i < ids.length; i++) addresses.set(addressOf(ids[i]), i * ADDRESS_BYTES)
  return crc32(addresses, crc32(body, crc32(head)))
}

/** True if the checksum of an encoding with bytes is right. @throws RangeError for an invalid encoding */
export function isIntact(data: Uint8Array, addressOf: (id: number) => Uint8Array): boolean {
  const checksum = Buffer.from(data.subarray(-CRC_BYTES)).readUInt32LE()
  return checksumOf(openRow(data), addressOf) === checksum
}

/** @throws RangeError for an invalid encoding */
function openRow(data: Uint8Array): RowParts {
  const cursor = { bytes: data.subarray(0, Math.max(0, data.length - CRC_BYTES)), at: 0 }
  const ids = readAscending(cursor)
  const head = data.subarray(0, cursor.at)
  const isDeflated = requireByte(cursor) === 1
  const rest = cursor.bytes.subarray(cursor.at)
  try {
    return { head, ids, body: isDeflated ? inflateRawSync(rest, INFLATE) : rest }
  } catch (cause) {
    throw new RangeError('the bytes cannot be inflated', { cause })
  }
}

interface BlockTables {
  readonly leaves: number
  readonly indexOf: ReadonlyMap<number, number>
  /** Numbers of the failures that are not known ones. */
  readonly failures: ReadonlyMap<string, number>
}

function writeCall(bytes: number[], call: CallTrace<number>, { leaves, indexOf, failures }: BlockTables): void {
  const { opcode, value, selector, failure } = call
  const hasValue = value !== undefined && value !== 0n && opcode !== DELEGATECALL
  let first = numberOfOpcode.get(opcode)!
  if (leaves > 0) first |= LEAVES
  if (failure !== undefined) first |= FAILED
  if (hasValue) first |= VALUE
  if (selector !== undefined) first |= SELECTOR
  if (call.isPrecompile) first |= PRECOMPILE
  bytes.push(first)
  if (leaves > 0) writeInteger(bytes, leaves)
  if (call.depth === 0) writeInteger(bytes, indexOf.get(call.from)!)
  writeInteger(bytes, indexOf.get(call.to)!)
  if (hasValue) writeBytes(bytes, bigIntToBytes(value))
  if (opcode !== SELFDESTRUCT) {
    writeGas(bytes, call.gas)
    writeGas(bytes, call.gasUsed)
    writeInteger(bytes, call.inputLength)
    if (selector !== undefined)
      bytes.push(selector >>> 24, (selector >> 16) & 255, (selector >> 8) & 255, selector & 255)
    writeInteger(bytes, call.outputLength)
  }
  if (failure !== undefined) writeInteger(bytes, numberOfFailure.get(failure) ?? failures.get(failure)!)
  if (call.codeHash !== undefined) for (const byte of call.codeHash) bytes.push(byte)
}

function writeBytes(bytes: number[], value: Uint8Array): void {
  writeInteger(bytes, value.length)
  for (const byte of value) bytes.push(byte)
}

const MAX_SHORT = 2n ** 31n
// Gas has 64 bits.
const MAX_GAS_BITS = 84n

/** Appends an unsigned integer. */
function writeGas(bytes: number[], gas: bigint): void {
  let rest = gas
  for (; rest >= MAX_SHORT; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  writeInteger(bytes, Number(rest))
}

/** Decodes the calls of each transaction, in the order in which they began, with ids of addresses. The checksum is not
 *  compared. @throws RangeError for an invalid encoding */
export function decodeCallTraces(data: Uint8Array): CallTrace<number>[][] {
  const transactions: CallTrace<number>[][] = []
  if (data.length === 0) return transactions
  const { ids, body } = openRow(data)
  const cursor = { bytes: body, at: 0 }
  const failures = [...KNOWN_FAILURES]
  for (let left = readInteger(cursor); left > 0; left--) failures.push(Buffer.from(readBytes(cursor)).toString())
  const open: OpenCall[] = []
  while (cursor.at < cursor.bytes.length) {
    const call = readCall(cursor, { ids, failures, open })
    if (call.depth === 0) transactions.push([])
    transactions[transactions.length - 1].push(call)
  }
  return transactions
}

/** A call around the next one: the account on whose state it runs, and its value. */
interface OpenCall {
  readonly account: number
  readonly value: bigint
}

function readCall(
  cursor: Cursor,
  { ids, failures, open }: { ids: ArrayLike<number>; failures: readonly string[]; open: OpenCall[] },
): CallTrace<number> {
  const first = requireByte(cursor)
  const opcode: number = TRACED_OPCODES[first & 7]
  const depth = open.length - (first & LEAVES ? readInteger(cursor) : 0)
  const isFailed = (first & FAILED) !== 0
  const hasSelector = (first & SELECTOR) !== 0
  if (opcode === undefined || depth < 0) throw new RangeError('the bytes are not calls')
  open.length = depth
  const around = open[depth - 1]
  const from = around === undefined ? ids[readInteger(cursor)] : around.account
  const to = ids[readInteger(cursor)]
  let value: bigint | undefined = first & VALUE ? readValue(cursor) : 0n
  if (opcode === STATICCALL) value = undefined
  if (opcode === DELEGATECALL) value = around?.value ?? 0n
  const isDestruct = opcode === SELFDESTRUCT
  const call: CallTrace<number> = {
    ...{ opcode, depth, from, to, value },
    gas: isDestruct ? 0n : readGas(cursor),
    gasUsed: isDestruct ? 0n : readGas(cursor),
    isPrecompile: (first & PRECOMPILE) !== 0,
    inputLength: isDestruct ? 0 : readInteger(cursor),
    selector: hasSelector ? readSelector(cursor) : undefined,
    outputLength: isDestruct ? 0 : readInteger(cursor),
    failure: isFailed ? failures[readInteger(cursor)] : undefined,
    codeHash: isCreation({ opcode }) && !isFailed ? take(cursor, HASH_BYTES) : undefined,
  }
  if (to === undefined || from === undefined || (isFailed && call.failure === undefined)) {
    throw new RangeError('a call refers to a missing address or failure')
  }
  const isOwn = opcode !== DELEGATECALL && opcode !== CALLCODE // runs on the state of the called account
  open.push({ account: isOwn ? to : from, value: value ?? 0n })
  return call
}

function requireByte(cursor: Cursor): number {
  if (cursor.at >= cursor.bytes.length) throw new RangeError('the bytes end within a call')
  return cursor.bytes[cursor.at++]
}

function take(cursor: Cursor, length: number): Uint8Array {
  const end = cursor.at + length
  if (end > cursor.bytes.length) throw new RangeError('the bytes end within a call')
  const taken = cursor.bytes.subarray(cursor.at, end)
  cursor.at = end
  return taken
}

function readBytes(cursor: Cursor): Uint8Array {
  return take(cursor, readInteger(cursor))
}

function readValue(cursor: Cursor): bigint {
  const bytes = readBytes(cursor)
  if (bytes.length > MAX_VALUE_BYTES) throw new RangeError('a value is too long')
  return bytesToBigInt(bytes)
}

function readSelector(cursor: Cursor): number {
  const [a, b, c, d] = take(cursor, 4)
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
}

function readGas(cursor: Cursor): bigint {
  let gas = 0n
  for (let shift = 0n; shift < MAX_GAS_BITS; shift += 28n) {
    let part = 0
    for (let bits = 0; bits < 28; bits += 7) {
      const byte = requireByte(cursor)
      part |= (byte & 0x7f) << bits
      if (byte < 0x80) return shift === 0n ? BigInt(part) : gas | (BigInt(part) << shift)
    }
    gas |= BigInt(part) << shift
  }
  throw new RangeError('an integer is too long')
}

/** True if a call of the block is from or to the address with that id, without decoding the calls. */
export function callsMention(data: Uint8Array, ids: ReadonlySet<number>): boolean {
  if (data.length === 0) return false
  return readAscending({ bytes: data, at: 0 }).some((id) => ids.has(id))
}
