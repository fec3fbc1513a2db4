import type { Felt } from '../felt.js'
import type { L2Prices, L2Receipt, L2StateDiff, L2Transaction } from '../types.js'
import {
  amount,
  type Field,
  felt,
  feltMap,
  feltOrDecimal,
  list,
  member,
  oneOf,
  optional,
  text,
  unexpected,
} from './fields.js'

/* Readers of the parts of recorded blocks. Feeder formats: responses of the gateway since 2021. RPC formats:
 * starknet-specs, api/starknet_api_openrpc.json, versions 0.1 to 0.10. */

const KINDS = ['INVOKE', 'DECLARE', 'DEPLOY', 'DEPLOY_ACCOUNT', 'L1_HANDLER'] as const

/** The transaction of a feeder block. One without a signature member has an empty signature. */
export function readFeederTransaction(field: Field): L2Transaction {
  const type = member(field, 'type')
  const kind = type.value === 'INVOKE_FUNCTION' ? 'INVOKE' : oneOf(type, KINDS)
  const hash = felt(member(field, 'transaction_hash'))
  return { hash, kind, signature: readSignature(field, kind) ?? [] }
}

function readSignature(field: Field, kind: L2Transaction['kind']): Felt[] | undefined {
  if (kind === 'DEPLOY' || kind === 'L1_HANDLER') return []
  return optional(member(field, 'signature'), (signature) => list(signature, feltOrDecimal))
}

/** Gas prices of a feeder block: objects, or in older formats `gas_price` (wei only) or `eth_l1_gas_price` and
 *  `strk_l1_gas_price` (0.13.0). */
export function readFeederPrices(block: Field): L2Prices {
  const prices = readRpcPrices(block)
  prices.l1Wei ??= optional(member(block, 'eth_l1_gas_price'), amount) ?? optional(member(block, 'gas_price'), amount)
  prices.l1Fri ??= optional(member(block, 'strk_l1_gas_price'), amount)
  return prices
}

/** Gas prices from `l1_gas_price`, `l1_data_gas_price` and `l2_gas_price`, each in wei, fri or both. */
export function readRpcPrices(block: Field): L2Prices {
  const [l1Wei, l1Fri] = readPrice(member(block, 'l1_gas_price'))
  const [l1DataWei, l1DataFri] = readPrice(member(block, 'l1_data_gas_price'))
  const [l2Wei, l2Fri] = readPrice(member(block, 'l2_gas_price'))
  return { l1Wei, l1Fri, l1DataWei, l1DataFri, l2Wei, l2Fri }
}

function readPrice(field: Field): [bigint | undefined, bigint | undefined] {
  if (field.value === undefined) return [undefined, undefined]
  return [optional(member(field, 'price_in_wei'), amount), optional(member(field, 'price_in_fri'), amount)]
}

/** The receipt of a feeder block. */
export function readFeederReceipt(field: Field): L2Receipt {
  const isReverted = member(field, 'execution_status').value === 'REVERTED'
  const resources = member(field, 'execution_resources')
  return {
    transactionHash: felt(member(field, 'transaction_hash')),
    events: optional(member(field, 'events'), (events) => list(events, readEvent)),
    messages: optional(member(field, 'l2_to_l1_messages'), (messages) => list(messages, readMessage)) ?? [],
    actualFee: optional(member(field, 'actual_fee'), amount),
    revertReason: isReverted ? (optional(member(field, 'revert_error'), text) ?? '') : undefined,
    gasConsumed: optional(resources, (value) => optional(member(value, 'total_gas_consumed'), readGas)),
  }
}

function readGas(field: Field): L2Receipt['gasConsumed'] {
  return {
    l1Gas: amount(member(field, 'l1_gas')),
    l1DataGas: amount(member(field, 'l1_data_gas')),
    l2Gas: optional(member(field, 'l2_gas'), amount) ?? 0n,
  }
}

function readEvent(field: Field): { fromAddress: Felt; keys: Felt[]; data: Felt[] } {
  return {
    fromAddress: felt(member(field, 'from_address')),
    keys: list(member(field, 'keys'), feltOrDecimal),
    data: list(member(field, 'data'), feltOrDecimal),
  }
}

function readMessage(field: Field): { fromAddress: Felt; toAddress: Felt; payload: Felt[] } {
  return {
    fromAddress: felt(member(field, 'from_address')),
    toAddress: felt(member(field, 'to_address')),
    payload: list(member(field, 'payload'), feltOrDecimal),
  }
}

/** The transactions of an RPC block: hashes, transactions, or transactions with receipts. `transactions` is undefined
 *  when any signature is missing. */
export function readRpcTransactions(field: Field): {
  transactionHashes: Felt[]
  transactions?: L2Transaction[]
  receipts?: L2Receipt[]
} {
  const [first] = Array.isArray(field.value) ? field.value : []
  if (first === undefined || typeof first === 'string') return { transactionHashes: list(field, felt) }
  const isWithReceipts = typeof first === 'object' && first !== null && 'receipt' in first
  const entries = list(field, (entry) => {
    if (!isWithReceipts) return { transaction: entry, receipt: undefined }
    return { transaction: member(entry, 'transaction'), receipt: member(entry, 'receipt') }
  })
  const transactions = entries.map(({ transaction, receipt }) => readRpcTransaction(transaction, receipt))
  const isComplete = transactions.every(({ signature }) => signature !== undefined)
  return {
    transactionHashes: transactions.map(({ hash }) => hash),
    transactions: isComplete ? (transactions as L2Transaction[]) : undefined,
    receipts: isWithReceipts ? entries.map(({ receipt }) => readRpcReceipt(receipt!)) : undefined,
  }
}

/** A transaction. Since 0.7 the hash of a transaction with a receipt is in the receipt only. */
function readRpcTransaction(field: Field, receipt: Field | undefined) {
  const kind = oneOf(member(field, 'type'), KINDS)
  const own = optional(member(field, 'transaction_hash'), felt)
  const hash = own ?? (receipt && optional(member(receipt, 'transaction_hash'), felt))
  if (hash === undefined) throw unexpected(member(field, 'transaction_hash'), 'a felt such as 0x1b4')
  return { hash, kind, signature: readSignature(field, kind) }
}

function readRpcReceipt(field: Field): L2Receipt {
  const isReverted = member(field, 'execution_status').value === 'REVERTED'
  const fee = member(field, 'actual_fee')
  return {
    transactionHash: felt(member(field, 'transaction_hash')),
    events: optional(member(field, 'events'), (events) => list(events, readEvent)),
    messages: optional(member(field, 'messages_sent'), (messages) => list(messages, readMessage)) ?? [],
    actualFee: typeof fee.value === 'object' ? amount(member(fee, 'amount')) : optional(fee, amount),
    revertReason: isReverted ? (optional(member(field, 'revert_reason'), text) ?? '') : undefined,
    gasConsumed: optional(member(field, 'execution_resources'), readRpcGas),
  }
}

/** Gas totals, which exist since 0.8. Before, resources list steps and builtins, without gas. */
function readRpcGas(field: Field): L2Receipt['gasConsumed'] {
  return member(field, 'l1_gas').value === undefined ? undefined : readGas(field)
}

/** The state diff of a feeder state update. */
export function readStateDiff(field: Field): L2StateDiff {
  const listOf = <T>(name: string, read: (entry: Field) => T) =>
    optional(member(field, name), (entries) => list(entries, read)) ?? []
  const mapOf = <T>(name: string, read: (key: Felt, value: Field) => T) =>
    optional(member(field, name), (entries) => feltMap(entries, read)) ?? []
  return {
    storage: mapOf('storage_diffs', (address, entries) => ({
      address,
      entries: list(entries, readStorageEntry),
    })),
    nonces: mapOf('nonces', (address, nonce) => ({ address, nonce: felt(nonce) })),
    deployedContracts: listOf('deployed_contracts', readContractClass),
    replacedClasses: listOf('replaced_classes', readContractClass),
    declaredClasses: listOf('declared_classes', readCompiledClass),
    migratedClasses: listOf('migrated_compiled_classes', readCompiledClass),
    declaredLegacyClasses: listOf('old_declared_contracts', felt),
  }
}

/** The state diff of an RPC state update. */
export function readRpcStateDiff(field: Field): L2StateDiff {
  const listOf = <T>(name: string, read: (entry: Field) => T) =>
    optional(member(field, name), (entries) => list(entries, read)) ?? []
  return {
    storage: listOf('storage_diffs', (entry) => ({
      address: felt(member(entry, 'address')),
      entries: list(member(entry, 'storage_entries'), readStorageEntry),
    })),
    nonces: listOf('nonces', (entry) => ({
      address: felt(member(entry, 'contract_address')),
      nonce: felt(member(entry, 'nonce')),
    })),
    deployedContracts: listOf('deployed_contracts', readContractClass),
    replacedClasses: listOf('replaced_classes', (entry) => ({
      address: felt(member(entry, 'contract_address')),
      classHash: felt(member(entry, 'class_hash')),
    })),
    declaredClasses: listOf('declared_classes', readCompiledClass),
    migratedClasses: listOf('migrated_compiled_classes', readCompiledClass),
    declaredLegacyClasses: listOf('deprecated_declared_classes', felt),
  }
}

function readStorageEntry(field: Field): { key: Felt; value: Felt } {
  return { key: felt(member(field, 'key')), value: felt(member(field, 'value')) }
}

function readContractClass(field: Field): { address: Felt; classHash: Felt } {
  return { address: felt(member(field, 'address')), classHash: felt(member(field, 'class_hash')) }
}

function readCompiledClass(field: Field): { classHash: Felt; compiledClassHash: Felt } {
  return {
    classHash: felt(member(field, 'class_hash')),
    compiledClassHash: felt(member(field, 'compiled_class_hash')),
  }
}
