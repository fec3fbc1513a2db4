import { equalBytes } from '../../lib/bytes.js'
import { TRANSFER_BATCH_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_TOPIC } from './transferTopics.js'
import type { Log, Receipt, Transaction } from './types.js'

/** By transaction, the addresses (20 bytes) that appear in it: sender, recipient, created contract, parties of standard
 *  token transfers in its logs, and `callees`, the addresses that its calls reach. Addresses may repeat. */
export function appearancesIn(
  transactions: readonly Transaction[],
  receipts: readonly Receipt[],
  callees: readonly (readonly Uint8Array[])[] = [],
): Uint8Array[][] {
  return transactions.map((transaction, i) => [...addressesOf(transaction, receipts[i]), ...(callees[i] ?? [])])
}

function addressesOf({ from, to }: Transaction, { contractAddress, logs }: Receipt): Uint8Array[] {
  const addresses = [from]
  if (to) addresses.push(to)
  if (contractAddress) addresses.push(contractAddress)
  for (const log of logs) addTransferParties(log, addresses)
  return addresses
}

/** Adds the parties of a standard transfer log: sender and receiver of ERC-20, ERC-721 and EIP-7708; operator, sender
 *  and receiver of ERC-1155. Only indexed parameters that are addresses count. */
function addTransferParties({ topics }: Log, addresses: Uint8Array[]): void {
  if (topics.length < 3) return
  const [event] = topics
  const isTransfer = equalBytes(event, TRANSFER_TOPIC)
  const isMultiTransfer =
    topics.length === 4 && (equalBytes(event, TRANSFER_SINGLE_TOPIC) || equalBytes(event, TRANSFER_BATCH_TOPIC))
  if (!isTransfer && !isMultiTransfer) return
  for (const topic of topics.slice(1, isTransfer ? 3 : 4)) {
    if (isAddress(topic)) addresses.push(topic.subarray(12))
  }
}

/** True for 32 bytes that are an address after 12 zero bytes. */
function isAddress(topic: Uint8Array): boolean {
  for (let i = 0; i < 12; i++) if (topic[i] !== 0) return false
  return true
}
