import type { L2ChainIdWitness, PreimagePart } from '../chainIdWitness.js'
import { encodeShortString, type Felt } from '../felt.js'
import { amount, type Field, felt, feltOrDecimal, InvalidL2Recording, list, member } from './fields.js'

/* Preimages of transaction hashes: Starknet documentation, "Transactions: transaction hash"; version 3: SNIP-8. */

// A Pedersen hash takes 0.16 ms: one transaction with fewer felts costs less than the block's commitments.
const MAX_CALLDATA = 1000

/** The transaction that proves the chain id with the least hashing: an INVOKE of version 3, 1 or 0 with the shortest
 *  calldata, or a message from layer 1. Undefined when none is complete, as in recordings with hashes only. */
export function readChainIdWitness(transactions: readonly Field[]): L2ChainIdWitness | undefined {
  const costOf = ({ value }: Field): number => {
    const { version, calldata } = value as Record<string, unknown>
    const length = Array.isArray(calldata) ? calldata.length : Number.POSITIVE_INFINITY
    return length > MAX_CALLDATA ? Number.POSITIVE_INFINITY : version === '0x3' ? length / 10 : length
  }
  const isObject = ({ value }: Field) => typeof value === 'object' && value !== null
  const costs = transactions.filter(isObject).map((transaction) => ({ transaction, cost: costOf(transaction) }))
  for (const { transaction } of costs
    .filter(({ cost }) => cost < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.cost - b.cost)) {
    const witness = tryRead(transaction)
    if (witness !== undefined) return witness
  }
  return undefined
}

/** The witness; undefined when members are missing or malformed. */
function tryRead(transaction: Field): L2ChainIdWitness | undefined {
  try {
    return readWitness(transaction)
  } catch (error) {
    if (error instanceof InvalidL2Recording) return undefined
    throw error
  }
}

function readWitness(transaction: Field): L2ChainIdWitness | undefined {
  const type = member(transaction, 'type').value
  const version = member(transaction, 'version').value
  const transactionHash = felt(member(transaction, 'transaction_hash'))
  const isInvoke = type === 'INVOKE' || type === 'INVOKE_FUNCTION'
  if (isInvoke && version === '0x3') {
    return { transactionHash, scheme: 'poseidon', preimages: invoke3(transaction) }
  }
  const preimages = isInvoke ? invokeBefore3(transaction, version) : type === 'L1_HANDLER' ? l1Handler(transaction) : []
  return preimages.length === 0 ? undefined : { transactionHash, scheme: 'pedersen', preimages }
}

const calldataOf = (transaction: Field) => list(member(transaction, 'calldata'), feltOrDecimal)

/** The sender. Its member is `contract_address` before RPC 0.3 and in feeder blocks of that time. */
function senderOf(transaction: Field): Felt {
  const sender = member(transaction, 'sender_address')
  return felt(sender.value === undefined ? member(transaction, 'contract_address') : sender)
}

/** Possible preimages of INVOKE before version 3; none for unknown versions. The shorter one is from before Starknet
 *  0.8, when transactions had no version. */
function invokeBefore3(transaction: Field, version: unknown): PreimagePart[][] {
  if (version !== undefined && version !== '0x0' && version !== '0x1') return []
  const prefix = encodeShortString('invoke')
  const fee = amount(member(transaction, 'max_fee'))
  const [sender, calldata] = [senderOf(transaction), calldataOf(transaction)]
  if (version === '0x1')
    return [[prefix, 1n, sender, 0n, calldata, fee, 'chain id', felt(member(transaction, 'nonce'))]]
  const selector = felt(member(transaction, 'entry_point_selector'))
  return [
    [prefix, 0n, sender, selector, calldata, fee, 'chain id'],
    [prefix, sender, selector, calldata, 'chain id'],
  ]
}

function l1Handler(transaction: Field): PreimagePart[][] {
  const selector = felt(member(transaction, 'entry_point_selector'))
  const nonce = felt(member(transaction, 'nonce'))
  const prefix = encodeShortString('l1_handler')
  return [[prefix, 0n, senderOf(transaction), selector, calldataOf(transaction), 0n, 'chain id', nonce]]
}

/** Preimages of INVOKE version 3. Since 0.13.4 the hash covers the bounds of L1 data gas if the transaction was signed
 *  with them. RPC nodes return zero bounds if it was not, so with bounds both preimages are possible. */
function invoke3(transaction: Field): PreimagePart[][] {
  const bounds = member(transaction, 'resource_bounds')
  const [l1Gas, l2Gas] = [readBounds(bounds, 'L1_GAS'), readBounds(bounds, 'L2_GAS')]
  const l1Data = hasBounds(bounds, 'L1_DATA_GAS') ? readBounds(bounds, 'L1_DATA_GAS', 'L1_DATA') : undefined
  const tip = amount(member(transaction, 'tip'))
  const preimageOf = (fees: Felt[]): PreimagePart[] => [
    encodeShortString('invoke'),
    3n,
    senderOf(transaction),
    fees,
    list(member(transaction, 'paymaster_data'), feltOrDecimal),
    'chain id',
    felt(member(transaction, 'nonce')),
    (readMode(member(transaction, 'nonce_data_availability_mode')) << 32n) |
      readMode(member(transaction, 'fee_data_availability_mode')),
    list(member(transaction, 'account_deployment_data'), feltOrDecimal),
    calldataOf(transaction),
  ]
  const lists =
    l1Data === undefined
      ? [[tip, l1Gas, l2Gas]]
      : [
          [tip, l1Gas, l2Gas, l1Data],
          [tip, l1Gas, l2Gas],
        ]
  return lists.map(preimageOf)
}

const boundsOf = (bounds: Field, name: string): Field => {
  const feeder = member(bounds, name)
  return feeder.value === undefined ? member(bounds, name.toLowerCase()) : feeder
}

const hasBounds = (bounds: Field, name: string) => boundsOf(bounds, name).value !== undefined

/** A resource bound as a felt: name, maximum amount (64 bits), maximum price per unit (128 bits). */
function readBounds(bounds: Field, name: string, hashedName = name): Felt {
  const own = boundsOf(bounds, name)
  const [units, price] = [amount(member(own, 'max_amount')), amount(member(own, 'max_price_per_unit'))]
  return (encodeShortString(hashedName) << 192n) | (BigInt.asUintN(64, units) << 128n) | BigInt.asUintN(128, price)
}

function readMode({ value, path }: Field): bigint {
  if (value === 0 || value === 'L1') return 0n
  if (value === 1 || value === 'L2') return 1n
  throw new InvalidL2Recording(`${path}: expected 0, 1, L1 or L2`)
}
