import type { BlockOverrides } from '../../evm/calls/overrides.js'
import { CallFailed } from '../../evm/errors.js'
import {
  address,
  arrayOf,
  BEYOND_ALL,
  hash32,
  index,
  invalidValue,
  maybe,
  optional,
  quantity,
  quantity64,
  type ValueType,
} from '../core/params.js'
import { strictObject } from '../core/strictObject.js'

const blockNumber: ValueType<number> = {
  schema: index.schema,
  decode: (value, path) => {
    const number = index.decode(value, path)
    if (number === BEYOND_ALL) throw invalidValue(path, 'a block number below 2^53', value)
    return number
  },
}

const withdrawal = strictObject({ index: quantity64, validatorIndex: quantity64, address, amount: quantity64 })

const members = strictObject(
  {
    number: maybe(blockNumber),
    difficulty: maybe(quantity),
    time: maybe(quantity64),
    gasLimit: maybe(quantity64),
    feeRecipient: maybe(address),
    prevRandao: maybe(hash32),
    baseFeePerGas: maybe(quantity),
    blobBaseFee: maybe(quantity),
    beaconRoot: maybe(hash32),
    withdrawals: maybe(arrayOf(withdrawal)),
  },
  {
    title: 'block overrides',
    // Names in alloy (reth, anvil) and Erigon.
    aliases: {
      blockNumber: 'number',
      timestamp: 'time',
      coinbase: 'feeRecipient',
      random: 'prevRandao',
      baseFee: 'baseFeePerGas',
    },
  },
)

/** Overridden header fields (execution-apis, schemas/execute: BlockOverrides). */
export const blockOverrides: ValueType<BlockOverrides> = {
  schema: members.schema,
  decode: (value, path) => {
    const { time, beaconRoot, withdrawals, ...rest } = members.decode(value, path)
    return {
      ...rest,
      timestamp: time,
      parentBeaconBlockRoot: beaconRoot,
      withdrawals: withdrawals?.map(({ amount, ...each }) => ({ ...each, amountGwei: amount })),
    }
  },
}

/** The fourth parameter of `eth_call` and `eth_estimateGas`. */
export const blockOverridesParam = optional(
  'blockOverrides',
  blockOverrides,
  'what the call sees of its block: `number`, `time`, `gasLimit`, `feeRecipient`, `prevRandao`, `baseFeePerGas`, ' +
    '`blobBaseFee`, `difficulty`',
)

/** @throws CallFailed for overrides that only simulated blocks accept, in geth's words. */
export function requireCallOverrides(overrides: BlockOverrides | undefined): BlockOverrides | undefined {
  if (overrides?.parentBeaconBlockRoot !== undefined) refuse('beaconRoot')
  if (overrides?.withdrawals !== undefined) refuse('withdrawals')
  return overrides
}

function refuse(name: string): never {
  throw new CallFailed(`block override "${name}" is not supported for this RPC method`)
}
