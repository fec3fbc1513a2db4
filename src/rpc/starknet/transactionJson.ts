import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import {
  amount,
  type Field,
  felt,
  feltOrDecimal,
  list,
  member,
  optional,
} from '../../chain/starknet/recording/fields.js'

/* TXN of starknet-specs 0.9, from the recorded formats of the gateway and of RPC 0.1 to 0.10. */

/** A transaction without its hash (TXN). */
export interface TransactionJson {
  readonly type: 'INVOKE' | 'DECLARE' | 'DEPLOY' | 'DEPLOY_ACCOUNT' | 'L1_HANDLER'
  readonly version: string
  readonly [member: string]: unknown
}

/** Formats the transaction of a recording. @throws InvalidL2Recording when a member is missing or malformed */
export function formatL2Transaction(field: Field): TransactionJson {
  const version = formatFelt(optional(member(field, 'version'), felt) ?? 0n)
  const read = TYPES[typeOf(field)]
  return { type: typeOf(field), version, ...read(field, version) }
}

function typeOf(field: Field): TransactionJson['type'] {
  const type = member(field, 'type').value
  if (type !== 'INVOKE_FUNCTION') return type as TransactionJson['type'] // checked on import
  // Until Starknet 0.9 the gateway returned messages from layer 1 as invocations.
  return member(field, 'entry_point_type').value === 'L1_HANDLER' ? 'L1_HANDLER' : 'INVOKE'
}

const TYPES: Readonly<Record<TransactionJson['type'], (field: Field, version: string) => object>> = {
  INVOKE: (field, version) =>
    version === '0x0'
      ? {
          ...signedWithMaxFee(field),
          contract_address: formatFelt(felt(contractOrSender(field))),
          entry_point_selector: one(field, 'entry_point_selector'),
          calldata: many(field, 'calldata'),
        }
      : {
          sender_address: senderOf(field),
          calldata: many(field, 'calldata'),
          ...signedWithNonce(field, version),
          ...(version === '0x3' ? { account_deployment_data: many(field, 'account_deployment_data') } : {}),
        },
  DECLARE: (field, version) => ({
    sender_address: senderOf(field),
    class_hash: one(field, 'class_hash'),
    ...(version === '0x0' ? signedWithMaxFee(field) : signedWithNonce(field, version)),
    ...(version === '0x0' || version === '0x1' ? {} : { compiled_class_hash: one(field, 'compiled_class_hash') }),
    ...(version === '0x3' ? { account_deployment_data: many(field, 'account_deployment_data') } : {}),
  }),
  DEPLOY: deploymentOf,
  DEPLOY_ACCOUNT: (field, version) => ({ ...deploymentOf(field), ...signedWithNonce(field, version) }),
  L1_HANDLER: (field) => ({
    // Messages had no nonce before Starknet 0.8.
    nonce: formatFelt(optional(member(field, 'nonce'), felt) ?? 0n),
    contract_address: formatFelt(felt(contractOrSender(field))),
    entry_point_selector: one(field, 'entry_point_selector'),
    calldata: many(field, 'calldata'),
  }),
}

function signedWithMaxFee(field: Field): object {
  return { max_fee: formatFelt(optional(member(field, 'max_fee'), amount) ?? 0n), signature: many(field, 'signature') }
}

/** Members of a signed transaction of version 1 to 3 (3: SNIP-8). */
function signedWithNonce(field: Field, version: string): object {
  const nonce = one(field, 'nonce')
  if (version !== '0x3') return { ...signedWithMaxFee(field), nonce }
  return {
    signature: many(field, 'signature'),
    nonce,
    resource_bounds: boundsOf(member(field, 'resource_bounds')),
    tip: formatFelt(amount(member(field, 'tip'))),
    paymaster_data: many(field, 'paymaster_data'),
    nonce_data_availability_mode: modeOf(member(field, 'nonce_data_availability_mode')),
    fee_data_availability_mode: modeOf(member(field, 'fee_data_availability_mode')),
  }
}

function deploymentOf(field: Field): object {
  return {
    contract_address_salt: one(field, 'contract_address_salt'),
    constructor_calldata: many(field, 'constructor_calldata'),
    class_hash: one(field, 'class_hash'),
  }
}

/** Lower-case names are those of the RPC. L1 data gas has bounds since 0.13.4; zero before. */
function boundsOf(field: Field): object {
  const boundOf = (name: string) => {
    const own = member(field, name)
    const bound = own.value === undefined ? member(field, name.toUpperCase()) : own
    const read = (part: string) => formatFelt(bound.value === undefined ? 0n : amount(member(bound, part)))
    return { max_amount: read('max_amount'), max_price_per_unit: read('max_price_per_unit') }
  }
  return { l1_gas: boundOf('l1_gas'), l1_data_gas: boundOf('l1_data_gas'), l2_gas: boundOf('l2_gas') }
}

function modeOf({ value }: Field): 'L1' | 'L2' {
  return value === 1 || value === 'L2' ? 'L2' : 'L1'
}

/** The member is `contract_address` or `sender_address`, depending on the format and its age. */
function contractOrSender(field: Field): Field {
  const contract = member(field, 'contract_address')
  return contract.value === undefined ? member(field, 'sender_address') : contract
}

function senderOf(field: Field): string {
  const sender = member(field, 'sender_address')
  return formatFelt(felt(sender.value === undefined ? member(field, 'contract_address') : sender))
}

function one(field: Field, name: string): string {
  return formatFelt(feltOrDecimal(member(field, name)))
}

/** Felts; empty if the member is absent, like the signature of early transactions. */
function many(field: Field, name: string): string[] {
  const felts: Felt[] = optional(member(field, name), (values) => list(values, feltOrDecimal)) ?? []
  return felts.map(formatFelt)
}
