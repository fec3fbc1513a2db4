import type { Transaction } from '../../chain/eth/types.js'
import { keyOfBytes } from '../../lib/bytes.js'
import type { TransactionCondition } from '../../store/rows/transactionMatches.js'

const SELECTOR_BYTES = 4

/** Returns a test whether a transaction matches any of the conditions. Input of fewer than four bytes has no
 *  selector. */
export function createTransactionTest(conditions: readonly TransactionCondition[]): (t: Transaction) => boolean {
  const tests = conditions.map(({ from, to, selectors }) => {
    const [isFrom, isTo, isSelector] = [from, to, selectors].map(createListTest)
    return ({ from: sender, to: recipient, input }: Transaction) =>
      isFrom(sender) &&
      isTo(recipient) &&
      isSelector(input.length < SELECTOR_BYTES ? undefined : input.subarray(0, SELECTOR_BYTES))
  })
  return (transaction) => tests.some((test) => test(transaction))
}

/** Returns a test whether a value is in the list; true for all without one. */
function createListTest(list: readonly Uint8Array[] | undefined): (value: Uint8Array | undefined) => boolean {
  if (list === undefined) return () => true
  const wanted = new Set(list.map(keyOfBytes))
  return (value) => value !== undefined && wanted.has(keyOfBytes(value))
}
