import { EMPTY_BYTES } from '../../../../lib/bytes.js'
import { formatData, formatQuantity } from '../../../../lib/hex.js'
import { asBytes, asFixed, asList, asOptionalAddress, asUint, DecodeError, type RlpItem } from '../../rlp.js'
import type { Deposit, Transaction } from '../../types.js'
import type { AddedType, JsonMembers } from '../addedType.js'

/** Type of a deposit: a transaction that layer 1 commands. */
export const DEPOSIT_TYPE = 0x7e

/** Version of the receipts of deposits from Canyon on. */
const RECEIPT_VERSION = 1

/** Deposits of the OP stack (specs/protocol/deposits.md): 0x7e and the RLP of [source hash, from, to, mint, value, gas,
 *  is system transaction, data]. */
export const depositType: AddedType = {
  type: DEPOSIT_TYPE,
  title: 'a deposit of the OP stack',
  isFree: true,
  decode: (payload) => {
    const fields = asList(payload, '', 8, 8)
    return transactionOf({
      from: asFixed(fields[1], 20, 'from'),
      to: asOptionalAddress(fields[2], 'to'),
      value: asUint(fields[4], 32, 'value'),
      gasLimit: asUint(fields[5], 8, 'gas'),
      input: asBytes(fields[7], 'data'),
      deposit: {
        sourceHash: asFixed(fields[0], 32, 'sourceHash'),
        mint: mintOf(asUint(fields[3], 32, 'mint')),
        isSystemTransaction: asFlag(fields[6], 'isSystemTransaction'),
      },
    })
  },
  fields: (transaction) => {
    const { to, value, gasLimit, input } = transaction
    const { sourceHash, mint = 0n, isSystemTransaction } = transaction.deposit!
    const { from } = transaction as Transaction
    return [sourceHash, from, to ?? EMPTY_BYTES, mint, value, gasLimit, isSystemTransaction ? 1n : 0n, input]
  },
  readJson: (members) =>
    transactionOf({
      from: members.fixed('from', 20),
      to: members.optional('to', (name) => members.fixed(name, 20)),
      value: members.quantity('value'),
      gasLimit: members.quantity('gas'),
      input: members.data(members.has('input') ? 'input' : 'data'),
      deposit: {
        sourceHash: members.fixed('sourceHash', 32),
        mint: mintOf(members.optional('mint', members.quantity) ?? 0n),
        isSystemTransaction: readSystemFlag(members),
      },
    }),
  members: ({ deposit }) => {
    const { sourceHash, mint = 0n, isSystemTransaction, receiptVersion } = deposit!
    return {
      sourceHash: formatData(sourceHash),
      mint: formatQuantity(mint), // as op-geth returns deposits of its database
      ...(isSystemTransaction ? { isSystemTx: true } : {}),
      ...(receiptVersion === undefined ? {} : { depositReceiptVersion: formatQuantity(receiptVersion) }),
    }
  },
  receiptFields: ({ depositNonce }) => (depositNonce === undefined ? [] : [depositNonce, BigInt(RECEIPT_VERSION)]),
  readReceiptFields: (fields) => {
    if (fields.length > 2) throw new DecodeError('', `expected 4 to 6 fields, got ${4 + fields.length}`)
    // op-geth returns the nonce alone for blocks of Regolith, whose receipts root does not cover it.
    if (fields.length < 2) return {}
    requireVersion(asUint(fields[1], 8, 'depositReceiptVersion'))
    return { depositNonce: asUint(fields[0], 8, 'depositNonce') }
  },
  // Regolith has the nonce in objects and not in the receipts root: only the version says that the root covers it.
  readReceiptJson: (members) => {
    if (!members.has('depositReceiptVersion')) return {}
    requireVersion(members.quantity('depositReceiptVersion'))
    return { depositNonce: members.quantity('depositNonce') }
  },
  receiptMembers: ({ depositNonce }) =>
    depositNonce === undefined
      ? {}
      : { depositNonce: formatQuantity(depositNonce), depositReceiptVersion: formatQuantity(RECEIPT_VERSION) },
  hasNonce: ({ deposit }) => deposit!.receiptVersion !== undefined,
  complete: (transaction, { depositNonce }) => {
    transaction.nonce = depositNonce ?? 0n
    transaction.deposit!.receiptVersion = depositNonce === undefined ? undefined : RECEIPT_VERSION
  },
  completeFrom: (transaction, { nonce, deposit }) => {
    const { receiptVersion } = deposit!
    transaction.nonce = receiptVersion === undefined ? 0n : nonce
    transaction.deposit!.receiptVersion = receiptVersion
  },
  completeReceipt: (receipt, { nonce, deposit }) => {
    if (deposit!.receiptVersion !== undefined) receipt.depositNonce = nonce
  },
}

type DepositFields = Pick<Transaction, 'from' | 'to' | 'value' | 'gasLimit' | 'input'> & { deposit: Deposit }

/** Price, nonce and signature, which deposits do not have, are zero as at op-geth. */
function transactionOf(fields: DepositFields): Omit<Transaction, 'hash'> {
  return { type: DEPOSIT_TYPE, nonce: 0n, gasPrice: 0n, v: 0n, r: 0n, s: 0n, ...fields }
}

/** No mint and a mint of zero have the same encoding. */
function mintOf(value: bigint): bigint | undefined {
  return value === 0n ? undefined : value
}

function asFlag(item: RlpItem, path: string): boolean {
  const value = asUint(item, 1, path)
  if (value > 1n) throw new DecodeError(path, `expected 0 or 1, got ${value}`)
  return value === 1n
}

/** op-geth leaves the member out when it is false; op-node's own name for it is that of the specification. */
function readSystemFlag(members: JsonMembers): boolean {
  const name = members.has('isSystemTx') ? 'isSystemTx' : 'isSystemTransaction'
  if (!members.has(name)) return false
  const value = members.member(name)
  if (typeof value === 'boolean') return value
  throw new DecodeError(name, `expected true or false, got ${JSON.stringify(value)}`)
}

function requireVersion(version: bigint): void {
  if (version === BigInt(RECEIPT_VERSION)) return
  throw new DecodeError('depositReceiptVersion', `expected ${RECEIPT_VERSION}, got ${version}`)
}
