import type { JsonSchema } from '../core/method.js'

/* JSON schemas of layer-2 values, for documentation. Members that are always present are `required`. */

export const FELT_SCHEMA: JsonSchema = { type: 'string', title: 'FELT', pattern: '^0x(0|[1-9a-f][0-9a-f]{0,62})$' }
export const INTEGER_SCHEMA: JsonSchema = { type: 'integer', minimum: 0 }

const TEXT: JsonSchema = { type: 'string' }

function objectOf(
  title: string,
  always: { [name: string]: JsonSchema },
  sometimes: { [name: string]: JsonSchema } = {},
): JsonSchema {
  return { title, type: 'object', properties: { ...always, ...sometimes }, required: Object.keys(always) }
}

const PRICE = objectOf('RESOURCE_PRICE', { price_in_fri: FELT_SCHEMA, price_in_wei: FELT_SCHEMA })
const HASHES: JsonSchema = { type: 'array', items: FELT_SCHEMA }

/** The layer-2 block object of the API specification, or null. */
export const ZK_BLOCK_SCHEMA: JsonSchema = {
  oneOf: [
    objectOf(
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

const STARKNET_COMMON = {
  timestamp: INTEGER_SCHEMA,
  sequencer_address: FELT_SCHEMA,
  l1_gas_price: PRICE,
  l1_data_gas_price: PRICE,
  l2_gas_price: PRICE,
  l1_da_mode: { type: 'string', enum: ['CALLDATA', 'BLOB'] },
  starknet_version: TEXT,
  transactions: HASHES,
}

/** BLOCK_WITH_TX_HASHES or PRE_CONFIRMED_BLOCK_WITH_TX_HASHES of the specification. */
export const STARKNET_BLOCK_SCHEMA: JsonSchema = {
  oneOf: [
    objectOf(
      'BLOCK_WITH_TX_HASHES',
      {
        status: { type: 'string', enum: ['ACCEPTED_ON_L2', 'ACCEPTED_ON_L1'] },
        block_hash: FELT_SCHEMA,
        parent_hash: FELT_SCHEMA,
        block_number: INTEGER_SCHEMA,
        new_root: FELT_SCHEMA,
        ...STARKNET_COMMON,
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
    objectOf('PRE_CONFIRMED_BLOCK_WITH_TX_HASHES', STARKNET_COMMON, { block_number: INTEGER_SCHEMA }),
  ],
}
