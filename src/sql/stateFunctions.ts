import { padLeft } from '../lib/bytes.js'
import { formatData, parseHex } from '../lib/hex.js'
import type { Database } from '../store/database.js'
import { hasStateAfter } from '../store/rows/coverage.js'
import { addressOfValue, bytesOfValue, describeValue } from '../store/sql/functionValues.js'
import type { StateReads } from '../store/state/stateReader.js'
import type { LazyChainConnection } from './chainConnection.js'

/** Adds `balance_at(address, block)` and `nonce_at(address, block)` (decimal text), `code_at(address, block)` (hex
 *  text) and `storage_at(address, slot, block)` (hex text of 32 bytes) to a connection: the state after a block, as
 *  `eth_getBalance` and its siblings answer. An argument of NULL gives NULL; a block whose state is not available is an
 *  error. State is read through `connection`. */
export function addStateFunctions(db: Database, connection: LazyChainConnection): void {
  const stateAt = (name: string, block: unknown): [state: StateReads, block: number] => {
    const { chain, state } = connection.get()
    const coverage = chain.coverage()
    if (typeof block !== 'bigint') throw new Error(`${name}: expected a block number, got ${block}`)
    if (coverage === undefined || block < 0n || block > BigInt(coverage.head)) {
      throw new Error(`${name}: block ${block} is not available`)
    }
    if (!hasStateAfter(coverage, Number(block))) throw new Error(`${name}: state of block ${block} is not available`)
    return [state, Number(block)]
  }
  const options = { safeIntegers: true }
  const ofAccount = (name: string, read: (state: StateReads, address: Uint8Array, block: number) => string) =>
    db.function(name, options, (address: unknown, block: unknown) => {
      if (address === null || block === null) return null
      const [state, number] = stateAt(name, block)
      return read(state, addressOfValue(name, address), number)
    })
  ofAccount('balance_at', (state, address, block) => state.balance(address, block).toString())
  ofAccount('nonce_at', (state, address, block) => state.nonce(address, block).toString())
  ofAccount('code_at', (state, address, block) => formatData(state.code(address, block)))
  db.function('storage_at', options, (address: unknown, slot: unknown, block: unknown) => {
    if (address === null || slot === null || block === null) return null
    const [state, number] = stateAt('storage_at', block)
    return formatData(state.storage(addressOfValue('storage_at', address), parseSlot(slot), number))
  })
}

/** A number, hex text or bytes; 32 bytes. */
function parseSlot(value: unknown): Uint8Array {
  const isNumber = typeof value === 'bigint' && value >= 0n
  const digits = isNumber ? value.toString(16) : ''
  const bytes = isNumber ? parseHex(digits.padStart(digits.length + (digits.length % 2), '0')) : bytesOfValue(value)
  if (bytes === undefined || bytes.length > 32) {
    throw new Error(`storage_at: expected a slot of at most 32 bytes, got ${describeValue(value)}`)
  }
  return padLeft(bytes, 32)
}
