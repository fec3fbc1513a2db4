import { openDecoder } from '../decoding/decoder.js'
import { createAppearanceFinder } from '../index/addresses/finder.js'
import { noDeadline } from '../lib/deadline.js'
import type { Database } from '../store/database.js'
import { addressOfValue, bytesOfValue } from '../store/sql/functionValues.js'
import type { LazyStateConnection } from './stateConnection.js'

/** Adds `address_transactions(address)`, a table with a row `block_number`, `transaction_index` for each transaction in
 *  which the address appears, oldest first, and `cairn_method(selector, address)`, the signature of the function that
 *  `address` has for `selector` by the ABIs and signature files of the database, or NULL. Both read through
 *  `connection`. */
export function addChainFunctions(db: Database, connection: LazyStateConnection): void {
  let finder: ReturnType<typeof createAppearanceFinder> | undefined
  db.table('address_transactions', {
    columns: ['block_number', 'transaction_index'],
    parameters: ['address'],
    *rows(value: unknown) {
      const address = addressOfValue('address_transactions', value)
      finder ??= createAppearanceFinder(connection.get().db)
      const found: [blockNumber: number, index: number][] = []
      const range = { fromBlock: 0, toBlock: Number.MAX_SAFE_INTEGER, newestFirst: false, deadline: noDeadline }
      finder.search(address, range, ({ blockNumber, indexes }) => {
        for (const index of indexes) found.push([blockNumber, index])
        return true
      })
      for (const [blockNumber, index] of found) yield [BigInt(blockNumber), BigInt(index)]
    },
  })
  let decoder: ReturnType<typeof openDecoder> | undefined
  const names = new Map<string, string | null>()
  db.function('cairn_method', { deterministic: true }, (selector: unknown, address: unknown) => {
    const key = bytesOfValue(selector)
    const to = bytesOfValue(address)
    if (key?.length !== 4 || to?.length !== 20) return null
    const cached = `${selector} ${Buffer.from(to).toString('hex')}`
    let name = names.get(cached)
    if (name === undefined) {
      decoder ??= openDecoder(connection.get().db)
      name = decoder().nameFunction(to, key)
      if (names.size === MAX_NAMES) names.clear()
      names.set(cached, name)
    }
    return name
  })
}

// In a few megabytes.
const MAX_NAMES = 20_000
