import { createAppearanceFinder } from '../index/addresses/finder.js'
import { noDeadline } from '../lib/deadline.js'
import type { Database } from '../store/database.js'
import { addressOfValue } from '../store/sql/functionValues.js'
import type { LazyChainConnection } from './chainConnection.js'

/** Adds `address_transactions(address)`, a table with a row `block_number`, `transaction_index` for each transaction in
 *  which the address appears, oldest first. It reads through `connection`. */
export function addAddressTransactions(db: Database, connection: LazyChainConnection): void {
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
}
