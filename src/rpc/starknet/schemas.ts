import type { JsonSchema } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'

/* JSON schemas of layer-2 values, for documentation. Members that are always present are `required`. */

export const FELT_SCHEMA: JsonSchema = { type: 'string', title: 'FELT', pattern: '^0x(0|[1-9a-f][0-9a-f]{0,62})$' }
export const INTEGER_SCHEMA: JsonSchema = { type: 'integer', minimum: 0 }

const TEXT: JsonSchema = { type: 'string' }

const PRICE = objectSchema('RESOURCE_PRICE', { price_in_fri: FELT_SCHEMA, price_in_wei: FELT_SCHEMA })
const HASHES: JsonSchema = { type: 'array', items: FELT_SCHEMA }

/** The layer-2 block object of the API specification, or null. */
export const ZK_BLOCK_SCHEMA: JsonSchema = {
  oneOf: [
    objectSchema(
      'Layer-2 block',
      {
        status: { type: 'string', enum: ['PENDING', 'ACCEPTED_ON_L2', 'ACCEPTED_ON_L1', 'REJECTED'] },
        parent_hash: FELT_SCHEMA,
        timestamp: INTEGER_SCHEMA,
        sequencer_address: FELT_SCHEMA,
        l1_gas_price: PRICE,
        zk_version: TEXT,
        transactions: HASHES,
      },
      { block_hash: FELT_SCHEMA, block_number: INTEGER_SCHEMA, new_root: FELT_SCHEMA },
    ),
    { type: 'null' },
  ],
}

const STARKNET_HEADER = {
  timestamp: INTEGER_SCHEMA,
  sequencer_address: FELT_SCHEMA,
  l1_gas_price: PRICE,
  l1_data_gas_price: PRICE,
  l2_gas_price: PRICE,
  l1_da_mode: { type: 'string', enum: ['CALLDATA', 'BLOB'] },
  starknet_version: TEXT,
}

/** BLOCK_WITH_… or PRE_CONFIRMED_BLOCK_WITH_… of the specification, with the schema in `transactions`. */
function starknetBlock(contents: string, transactions: JsonSchema): JsonSchema {
  const common = { ...STARKNET_HEADER, transactions: { type: 'array', items: transactions } }
  return {
    anyOf: [
      objectSchema(
        `BLOCK_WITH_${contents}`,
        {
          status: { type: 'string', enum: ['ACCEPTED_ON_L2', 'ACCEPTED_ON_L1'] },
          block_hash: FELT_SCHEMA,
          parent_hash: FELT_SCHEMA,
          block_number: INTEGER_SCHEMA,
          new_root: FELT_SCHEMA,
          ...common,
          transaction_count: INTEGER_SCHEMA,
        },
        {
          transaction_commitment: FELT_SCHEMA,
          event_commitment: FELT_SCHEMA,
          receipt_commitment: FELT_SCHEMA,
          state_diff_commitment: FELT_SCHEMA,
          event_count: INTEGER_SCHEMA,
          state_diff_length: INTEGER_SCHEMA,
        },
      ),
      objectSchema(`PRE_CONFIRMED_BLOCK_WITH_${contents}`, common, { block_number: INTEGER_SCHEMA }),
    ],
  }
}

export const STARKNET_BLOCK_SCHEMA: JsonSchema = starknetBlock('TX_HASHES', FELT_SCHEMA)

const FELTS: JsonSchema = { type: 'array', items: FELT_SCHEMA }
const TRANSACTION_TYPE = {
  type: 'string',
  enum: ['INVOKE', 'DECLARE', 'DEPLOY', 'DEPLOY_ACCOUNT', 'L1_HANDLER'],
}
const BOUND = objectSchema('RESOURCE_BOUNDS', { max_amount: FELT_SCHEMA, max_price_per_unit: FELT_SCHEMA })
const DA_MODE = { type: 'string', enum: ['L1', 'L2'] }

/** Members of transactions; each type and version has some of them. */
const TRANSACTION_MEMBERS = {
  max_fee: FELT_SCHEMA,
  signature: FELTS,
  nonce: FELT_SCHEMA,
  sender_address: FELT_SCHEMA,
  contract_address: FELT_SCHEMA,
  entry_point_selector: FELT_SCHEMA,
  calldata: FELTS,
  class_hash: FELT_SCHEMA,
  compiled_class_hash: FELT_SCHEMA,
  contract_address_salt: FELT_SCHEMA,
  constructor_calldata: FELTS,
  resource_bounds: objectSchema('RESOURCE_BOUNDS_MAPPING', { l1_gas: BOUND, l1_data_gas: BOUND, l2_gas: BOUND }),
  tip: FELT_SCHEMA,
  paymaster_data: FELTS,
  account_deployment_data: FELTS,
  nonce_data_availability_mode: DA_MODE,
  fee_data_availability_mode: DA_MODE,
}

const BARE_TRANSACTION = objectSchema('TXN', { type: TRANSACTION_TYPE, version: FELT_SCHEMA }, TRANSACTION_MEMBERS)

/** TXN_WITH_HASH. */
export const STARKNET_TRANSACTION_SCHEMA: JsonSchema = objectSchema(
  'TXN_WITH_HASH',
  { transaction_hash: FELT_SCHEMA, type: TRANSACTION_TYPE, version: FELT_SCHEMA },
  TRANSACTION_MEMBERS,
)

const EVENT = { from_address: FELT_SCHEMA, keys: FELTS, data: FELTS }
const EXECUTION_STATUS = { type: 'string', enum: ['SUCCEEDED', 'REVERTED'] }

const RECEIPT_MEMBERS = {
  type: TRANSACTION_TYPE,
  transaction_hash: FELT_SCHEMA,
  actual_fee: objectSchema('FEE_PAYMENT', { amount: FELT_SCHEMA, unit: { type: 'string', enum: ['WEI', 'FRI'] } }),
  execution_status: EXECUTION_STATUS,
  finality_status: { type: 'string', enum: ['PRE_CONFIRMED', 'ACCEPTED_ON_L2', 'ACCEPTED_ON_L1'] },
  messages_sent: {
    type: 'array',
    items: objectSchema('MSG_TO_L1', { from_address: FELT_SCHEMA, to_address: FELT_SCHEMA, payload: FELTS }),
  },
  events: { type: 'array', items: objectSchema('EVENT', EVENT) },
  execution_resources: objectSchema('EXECUTION_RESOURCES', {
    l1_gas: INTEGER_SCHEMA,
    l1_data_gas: INTEGER_SCHEMA,
    l2_gas: INTEGER_SCHEMA,
  }),
}
const RECEIPT_OPTIONS = {
  revert_reason: TEXT,
  contract_address: FELT_SCHEMA,
  message_hash: { type: 'string', pattern: '^0x[0-9a-f]{64}$' },
}

/** TXN_RECEIPT_WITH_BLOCK_INFO. */
export const STARKNET_RECEIPT_SCHEMA: JsonSchema = objectSchema('TXN_RECEIPT_WITH_BLOCK_INFO', RECEIPT_MEMBERS, {
  ...RECEIPT_OPTIONS,
  block_hash: FELT_SCHEMA,
  block_number: INTEGER_SCHEMA,
})

export const STARKNET_BLOCK_WITH_TXS_SCHEMA: JsonSchema = starknetBlock('TXS', STARKNET_TRANSACTION_SCHEMA)
export const STARKNET_BLOCK_WITH_RECEIPTS_SCHEMA: JsonSchema = starknetBlock(
  'RECEIPTS',
  objectSchema('transaction and receipt', {
    transaction: BARE_TRANSACTION,
    receipt: objectSchema('TXN_RECEIPT', RECEIPT_MEMBERS, RECEIPT_OPTIONS),
  }),
)

/** TXN_STATUS_RESULT. */
export const STARKNET_STATUS_SCHEMA: JsonSchema = objectSchema(
  'TXN_STATUS_RESULT',
  { finality_status: RECEIPT_MEMBERS.finality_status },
  { execution_status: EXECUTION_STATUS, failure_reason: TEXT },
)

/** EVENTS_CHUNK, with the indexes of specification 0.10. */
export const STARKNET_EVENTS_SCHEMA: JsonSchema = objectSchema(
  'EVENTS_CHUNK',
  {
    events: {
      type: 'array',
      items: objectSchema(
        'EMITTED_EVENT',
        { ...EVENT, transaction_hash: FELT_SCHEMA, transaction_index: INTEGER_SCHEMA, event_index: INTEGER_SCHEMA },
        { block_hash: FELT_SCHEMA, block_number: INTEGER_SCHEMA },
      ),
    },
  },
  { continuation_token: TEXT },
)

const listOf = (title: string, members: { [name: string]: JsonSchema }): JsonSchema => ({
  type: 'array',
  items: objectSchema(title, members),
})
const COMPILED_CLASS = { class_hash: FELT_SCHEMA, compiled_class_hash: FELT_SCHEMA }

/** STATE_UPDATE or PRE_CONFIRMED_STATE_UPDATE. */
export const STARKNET_STATE_UPDATE_SCHEMA: JsonSchema = objectSchema(
  'STATE_UPDATE',
  {
    old_root: FELT_SCHEMA,
    state_diff: objectSchema(
      'STATE_DIFF',
      {
        storage_diffs: listOf('CONTRACT_STORAGE_DIFF_ITEM', {
          address: FELT_SCHEMA,
          storage_entries: listOf('storage entry', { key: FELT_SCHEMA, value: FELT_SCHEMA }),
        }),
        deprecated_declared_classes: FELTS,
        declared_classes: listOf('declared class', COMPILED_CLASS),
        deployed_contracts: listOf('DEPLOYED_CONTRACT_ITEM', { address: FELT_SCHEMA, class_hash: FELT_SCHEMA }),
        replaced_classes: listOf('replaced class', { contract_address: FELT_SCHEMA, class_hash: FELT_SCHEMA }),
        nonces: listOf('nonce', { contract_address: FELT_SCHEMA, nonce: FELT_SCHEMA }),
      },
      { migrated_compiled_classes: listOf('migrated class', COMPILED_CLASS) },
    ),
  },
  { block_hash: FELT_SCHEMA, new_root: FELT_SCHEMA },
)
