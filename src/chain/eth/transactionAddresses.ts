import { equalBytes } from '../../lib/bytes.js'
import { parseHex } from '../../lib/hex.js'
import type { Log, Receipt, Transaction } from './types.js'

/** Keccak-256 of `Transfer(address,address,uint256)`: ERC-20, ERC-721 and EIP-7708. */
const TRANSFER = parseHex('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
/** Keccak-256 of `TransferSingle(address,address,address,uint256,uint256)`: ERC-1155. */
const TRANSFER_SINGLE = parseHex('0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62')
/** Keccak-256 of `TransferBatch(address,address,address,uint256[],uint256[])`: ERC-1155. */
const TRANSFER_BATCH = parseHex('0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb')

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
  const isTransfer = equalBytes(event, TRANSFER)
  const isMultiTransfer =
    topics.length === 4 && (equalBytes(event, TRANSFER_SINGLE) || equalBytes(event, TRANSFER_BATCH))
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
