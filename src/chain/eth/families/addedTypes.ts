import { formatQuantity } from '../../../lib/hex.js'
import type { ConsensusReceipt, Transaction } from '../types.js'
import type { AddedType } from './addedType.js'
import { depositType } from './op/deposit.js'

/** The types that families add to those of Ethereum. */
const ADDED_TYPES: readonly AddedType[] = [depositType]

const BY_TYPE = new Map<number, AddedType>(ADDED_TYPES.map((added) => [added.type, added]))

/** Highest type of Ethereum's transactions. */
export const MAX_ETHEREUM_TYPE = 4

/** Returns the added type of that number; undefined for one of Ethereum's and for an unknown one. */
export function addedType(type: number): AddedType | undefined {
  return type > MAX_ETHEREUM_TYPE ? BY_TYPE.get(type) : undefined
}

/** The types that Cairn decodes, for messages: those of Ethereum from `from` on, then the added ones. */
export function describeTypes(from: 0 | 1): string {
  return `${from} to ${MAX_ETHEREUM_TYPE} or ${ADDED_TYPES.map(({ type }) => type).join(', ')}`
}

/** Sets the fields of transactions that only their receipts have, where a block has such transactions. */
export function completeTransactions(
  transactions: readonly Transaction[],
  receipts: readonly ConsensusReceipt[],
): void {
  for (let index = 0; index < transactions.length; index++) {
    addedType(transactions[index].type)?.complete(transactions[index], receipts[index])
  }
}

/** Names a type for messages: its number, and its name if a family adds it. */
export function describeType(type: number): string {
  const added = addedType(type)
  return added === undefined ? String(type) : `${type} (${formatQuantity(type)}), ${added.title}`
}
