import { HEADER_NOT_FOUND, STATE_UNAVAILABLE } from '../core/blockId.js'
import type { ErrorDoc, JsonSchema } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { address, boolean, data, hash32, index, quantity } from '../core/params.js'

/* JSON schemas of results, for documentation. Members that are always present are `required`. */

const QUANTITY = quantity.schema
const DATA = data.schema
const HASH32 = hash32.schema
const ADDRESS20 = address.schema
const INDEX = index.schema

/** The schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { oneOf: [schema, { type: 'null' }] }
}

function arrayOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items }
}

export const LOG_SCHEMA = objectSchema('Log', {
  address: ADDRESS20,
  topics: { ...arrayOf(HASH32), maxItems: 4 },
  data: DATA,
  blockNumber: INDEX,
  transactionHash: HASH32,
  transactionIndex: INDEX,
  blockHash: HASH32,
  blockTimestamp: INDEX,
  logIndex: INDEX,
  removed: boolean.schema,
})

export const ACCESS_LIST_SCHEMA = arrayOf(
  objectSchema('AccessListEntry', { address: ADDRESS20, storageKeys: arrayOf(HASH32) }),
)
const AUTHORIZATION = objectSchema('Authorization', {
  chainId: QUANTITY,
  address: ADDRESS20,
  nonce: QUANTITY,
  yParity: QUANTITY,
  r: QUANTITY,
  s: QUANTITY,
})

/** Of deposits of the OP stack. */
const DEPOSIT_MEMBERS = {
  sourceHash: HASH32,
  mint: QUANTITY,
  isSystemTx: boolean.schema,
  depositReceiptVersion: QUANTITY,
}

export const TRANSACTION_SCHEMA = objectSchema(
  'Transaction',
  {
    blockHash: HASH32,
    blockNumber: INDEX,
    blockTimestamp: INDEX,
    from: ADDRESS20,
    gas: QUANTITY,
    gasPrice: QUANTITY,
    hash: HASH32,
    input: DATA,
    nonce: QUANTITY,
    to: orNull(ADDRESS20),
    transactionIndex: INDEX,
    value: QUANTITY,
    type: QUANTITY,
    v: QUANTITY,
    r: QUANTITY,
    s: QUANTITY,
  },
  {
    accessList: ACCESS_LIST_SCHEMA,
    authorizationList: arrayOf(AUTHORIZATION),
    blobVersionedHashes: arrayOf(HASH32),
    chainId: QUANTITY,
    maxFeePerBlobGas: QUANTITY,
    maxFeePerGas: QUANTITY,
    maxPriorityFeePerGas: QUANTITY,
    yParity: QUANTITY,
    ...DEPOSIT_MEMBERS,
  },
)

/** Schema of `formatUnsignedTransaction`. */
export const UNSIGNED_TRANSACTION_SCHEMA = objectSchema(
  'UnsignedTransaction',
  {
    gas: QUANTITY,
    gasPrice: orNull(QUANTITY),
    hash: HASH32,
    input: DATA,
    maxFeePerGas: orNull(QUANTITY),
    maxPriorityFeePerGas: orNull(QUANTITY),
    nonce: QUANTITY,
    to: orNull(ADDRESS20),
    value: QUANTITY,
    type: QUANTITY,
    v: QUANTITY,
    r: QUANTITY,
    s: QUANTITY,
  },
  {
    accessList: ACCESS_LIST_SCHEMA,
    authorizationList: arrayOf(AUTHORIZATION),
    blobVersionedHashes: arrayOf(HASH32),
    chainId: QUANTITY,
    maxFeePerBlobGas: QUANTITY,
    yParity: QUANTITY,
  },
)

const HEADER = {
  difficulty: QUANTITY,
  extraData: DATA,
  gasLimit: QUANTITY,
  gasUsed: QUANTITY,
  hash: orNull(HASH32),
  logsBloom: orNull(DATA),
  miner: ADDRESS20,
  mixHash: HASH32,
  nonce: orNull(DATA),
  number: orNull(INDEX),
  parentHash: HASH32,
  receiptsRoot: HASH32,
  sha3Uncles: HASH32,
  size: INDEX,
  stateRoot: HASH32,
  timestamp: INDEX,
  transactionsRoot: HASH32,
  uncles: arrayOf(HASH32),
}

const LATER_HEADER = {
  baseFeePerGas: QUANTITY,
  blobGasUsed: QUANTITY,
  blockAccessListHash: HASH32,
  excessBlobGas: QUANTITY,
  parentBeaconBlockRoot: HASH32,
  requestsHash: HASH32,
  slotNumber: QUANTITY,
  withdrawalsRoot: HASH32,
}

const { size: _size, uncles: _uncles, ...HEAD } = HEADER
const NULLABLE = Object.entries(LATER_HEADER).map(([name, schema]) => [name, orNull(schema)] as const)

export const ACCOUNT_INFO_SCHEMA = objectSchema('AccountInfo', { balance: QUANTITY, nonce: QUANTITY, code: DATA })

/** Schema of `formatHeaderOnly`. */
export const HEADER_SCHEMA = objectSchema('Header', HEAD, LATER_HEADER)

/** Schema of `formatHead`. */
export const HEAD_SCHEMA = objectSchema('Header', { ...HEAD, ...Object.fromEntries(NULLABLE) })

export const BLOCK_SCHEMA = objectSchema(
  'Block',
  {
    ...HEADER,
    totalDifficulty: QUANTITY,
    transactions: { anyOf: [arrayOf(HASH32), arrayOf(TRANSACTION_SCHEMA)] },
  },
  {
    ...LATER_HEADER,
    withdrawals: arrayOf(
      objectSchema('Withdrawal', { index: QUANTITY, validatorIndex: QUANTITY, address: ADDRESS20, amount: QUANTITY }),
    ),
  },
)

export const UNCLE_SCHEMA = objectSchema('Uncle', { ...HEADER, totalDifficulty: orNull(QUANTITY) }, LATER_HEADER)

/** Of receipts of the OP stack. */
const OP_RECEIPT_MEMBERS = {
  depositNonce: QUANTITY,
  depositReceiptVersion: QUANTITY,
  l1Fee: QUANTITY,
  l1FeeScalar: { type: 'string' },
  l1GasPrice: QUANTITY,
  l1GasUsed: QUANTITY,
  l1BaseFeeScalar: QUANTITY,
  l1BlobBaseFee: QUANTITY,
  l1BlobBaseFeeScalar: QUANTITY,
  operatorFeeConstant: QUANTITY,
  operatorFeeScalar: QUANTITY,
  daFootprintGasScalar: QUANTITY,
} as const

export const RECEIPT_SCHEMA = objectSchema(
  'Receipt',
  {
    blockHash: HASH32,
    blockNumber: INDEX,
    contractAddress: orNull(ADDRESS20),
    cumulativeGasUsed: QUANTITY,
    effectiveGasPrice: QUANTITY,
    from: ADDRESS20,
    gasUsed: QUANTITY,
    logs: arrayOf(LOG_SCHEMA),
    logsBloom: DATA,
    to: orNull(ADDRESS20),
    transactionHash: HASH32,
    transactionIndex: INDEX,
    type: QUANTITY,
  },
  { blobGasPrice: QUANTITY, blobGasUsed: QUANTITY, root: HASH32, status: QUANTITY, ...OP_RECEIPT_MEMBERS },
)

export const FEE_HISTORY_SCHEMA = objectSchema(
  'FeeHistory',
  {
    oldestBlock: INDEX,
    baseFeePerGas: arrayOf(QUANTITY),
    gasUsedRatio: arrayOf({ type: 'number' }),
    baseFeePerBlobGas: arrayOf(QUANTITY),
    blobGasUsedRatio: arrayOf({ type: 'number' }),
  },
  { reward: arrayOf(arrayOf(QUANTITY)) },
)

const INDEXED_CHANGES = arrayOf(objectSchema('IndexedChange', { index: INDEX, value: QUANTITY }))
const INDEXED_WORDS = arrayOf(objectSchema('IndexedWord', { index: INDEX, value: HASH32 }))

export const BLOCK_ACCESS_LIST_SCHEMA = arrayOf(
  objectSchema('AccountAccess', {
    address: ADDRESS20,
    storageChanges: arrayOf(objectSchema('SlotChanges', { key: HASH32, changes: INDEXED_WORDS })),
    storageReads: arrayOf(HASH32),
    balanceChanges: INDEXED_CHANGES,
    nonceChanges: INDEXED_CHANGES,
    codeChanges: arrayOf(objectSchema('IndexedCode', { index: INDEX, code: DATA })),
  }),
)

const CONTRACTS_BY_NAME: JsonSchema = { type: 'object', additionalProperties: ADDRESS20 }
const INTEGER: JsonSchema = { type: 'integer' }
const FORK_CONFIG_SCHEMA = objectSchema(
  'ForkConfig',
  {
    activationTime: INTEGER,
    blobSchedule: orNull(
      objectSchema('BlobSchedule', { target: INTEGER, max: INTEGER, baseFeeUpdateFraction: INTEGER }),
    ),
    chainId: QUANTITY,
    precompiles: CONTRACTS_BY_NAME,
    systemContracts: CONTRACTS_BY_NAME,
  },
  { forkId: DATA },
)

export const CONFIG_SCHEMA = objectSchema('Config', {
  current: orNull(FORK_CONFIG_SCHEMA),
  next: orNull(FORK_CONFIG_SCHEMA),
  last: orNull(FORK_CONFIG_SCHEMA),
})

/** Errors of every method that reads state. */
export const STATE_ERRORS: readonly ErrorDoc[] = [HEADER_NOT_FOUND, STATE_UNAVAILABLE]
