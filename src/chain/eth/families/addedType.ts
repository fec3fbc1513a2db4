import type { RlpInput, RlpItem } from '../rlp.js'
import type { ConsensusReceipt, Transaction } from '../types.js'

/** Readers of the members of a JSON object, as the sources have them. All throw DecodeError with the name of the
 *  member. */
export interface JsonMembers {
  /** True when the member is neither absent nor null. */
  has(name: string): boolean
  member(name: string): unknown
  data(name: string): Uint8Array
  fixed(name: string, length: number): Uint8Array
  quantity(name: string): bigint
  optional<T>(name: string, read: (name: string) => T): T | undefined
}

/** Members of a JSON object, formatted. */
export interface AddedMembers {
  readonly [member: string]: string | boolean | undefined
}

/** A transaction type that a family adds to those of Ethereum (EIP-2718). It has no signature: its payload names the
 *  sender. */
export interface AddedType {
  readonly type: Transaction['type']
  /** As messages name it. */
  readonly title: string
  /** True if its transactions pay nothing for their gas. */
  readonly isFree: boolean
  /** Decodes the fields of the payload. @throws DecodeError */
  decode(payload: RlpItem): Omit<Transaction, 'hash'>
  /** Returns the fields of the payload in their order. */
  fields(transaction: Omit<Transaction, 'hash' | 'from'>): RlpInput[]
  /** Decodes a transaction object. @throws DecodeError */
  readJson(members: JsonMembers): Omit<Transaction, 'hash'>
  /** Returns the members that a transaction object has beside Ethereum's. */
  members(transaction: Transaction): AddedMembers
  /** Returns the fields of a receipt after the four of Ethereum. */
  receiptFields(receipt: ConsensusReceipt): bigint[]
  /** Decodes the fields of a receipt after the four of Ethereum. @throws DecodeError */
  readReceiptFields(fields: readonly RlpItem[]): Partial<ConsensusReceipt>
  /** Decodes the members of a receipt object that the receipts root covers. @throws DecodeError */
  readReceiptJson(members: JsonMembers): Partial<ConsensusReceipt>
  /** Returns the members that a receipt object has beside Ethereum's. */
  receiptMembers(receipt: ConsensusReceipt): AddedMembers
  /** False if the nonce of a completed transaction is not known, and so the address of a contract that it creates. */
  hasNonce(transaction: Transaction): boolean
  /** Sets the fields of a transaction that only its receipt has. */
  complete(transaction: Transaction, receipt: ConsensusReceipt): void
  /** Sets the same fields from a stored transaction. */
  completeFrom(transaction: Transaction, stored: Transaction): void
  /** Sets the fields of a stored receipt that its stored transaction has. */
  completeReceipt(receipt: ConsensusReceipt, stored: Transaction): void
}
