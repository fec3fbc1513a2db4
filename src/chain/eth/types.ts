/** Numbers follow one rule: `bigint` for wei, gas, timestamps and anything else that may have 64 bits or more; `number`
 *  for block numbers and indexes, checked to be safe integers where they are decoded. Bytes are `Uint8Array`. */

/** A block header of any fork, Frontier to Amsterdam. Fields of later forks are absent before them. */
export interface Header {
  parentHash: Uint8Array // 32
  unclesHash: Uint8Array // 32
  miner: Uint8Array // 20
  stateRoot: Uint8Array // 32
  transactionsRoot: Uint8Array // 32
  receiptsRoot: Uint8Array // 32
  logsBloom: Uint8Array // 256
  difficulty: bigint
  number: number
  gasLimit: bigint
  gasUsed: bigint
  timestamp: bigint // Unix seconds, 64 bits
  extraData: Uint8Array
  mixHash: Uint8Array // 32
  nonce: Uint8Array // 8
  baseFeePerGas?: bigint // London, EIP-1559
  withdrawalsRoot?: Uint8Array // Shanghai, EIP-4895
  blobGasUsed?: bigint // Cancun, EIP-4844
  excessBlobGas?: bigint // Cancun, EIP-4844
  parentBeaconBlockRoot?: Uint8Array // Cancun, EIP-4788
  requestsHash?: Uint8Array // Prague, EIP-7685
  blockAccessListHash?: Uint8Array // Amsterdam, EIP-7928
  slotNumber?: bigint // Amsterdam, EIP-7843; 64 bits, of the consensus layer
}

/** Types of Ethereum and, from 0x7e on, those that other families add (families/addedTypes). */
export type TransactionType = 0 | 1 | 2 | 3 | 4 | 0x7e

export interface AccessListEntry {
  address: Uint8Array // 20
  storageKeys: Uint8Array[] // 32 each
}

/** One tuple of an EIP-7702 authorization list. */
export interface Authorization {
  chainId: bigint
  address: Uint8Array // 20
  nonce: bigint
  yParity: bigint
  r: bigint
  s: bigint
}

/** The parts of a deposit of the OP stack that other transactions do not have. */
export interface Deposit {
  sourceHash: Uint8Array // 32
  mint?: bigint // wei minted for the sender; absent for none
  isSystemTransaction: boolean // only before Regolith
  receiptVersion?: number // 1 from Canyon on, where the receipts root covers the nonce
}

/** A signed transaction. `v` is as on the wire for legacy transactions and the y parity for typed ones. */
export interface Transaction {
  type: TransactionType
  hash: Uint8Array // 32
  from: Uint8Array // 20, recovered from the signature
  chainId?: bigint // absent for legacy transactions without EIP-155
  nonce: bigint
  gasLimit: bigint
  gasPrice?: bigint // types 0 and 1; zero for deposits
  maxPriorityFeePerGas?: bigint // types 2 to 4
  maxFeePerGas?: bigint // types 2 to 4
  to?: Uint8Array // 20; absent for a contract creation
  value: bigint
  input: Uint8Array
  accessList?: AccessListEntry[] // types 1 to 4
  maxFeePerBlobGas?: bigint // type 3
  blobVersionedHashes?: Uint8Array[] // type 3, 32 each
  authorizationList?: Authorization[] // type 4
  deposit?: Deposit // type 0x7e, whose nonce is that of its receipt and whose signature is zero
  v: bigint
  r: bigint
  s: bigint
}

export interface Log {
  address: Uint8Array // 20
  topics: Uint8Array[] // 0 to 4, 32 each
  data: Uint8Array
}

/** A transaction's outcome by consensus (EIP-658, EIP-2718): the fields that the receipts root covers. */
export interface ConsensusReceipt {
  type: TransactionType
  status?: 0 | 1 // from Byzantium on
  root?: Uint8Array // 32, before Byzantium: the state root after the transaction
  cumulativeGasUsed: bigint
  logsBloom: Uint8Array // 256
  logs: Log[]
  depositNonce?: bigint // type 0x7e from Canyon on: the sender's nonce before it
}

/** A receipt with fields derived outside of consensus. */
export interface Receipt extends ConsensusReceipt {
  gasUsed: bigint
  effectiveGasPrice: bigint
  contractAddress?: Uint8Array // 20
  blobGasUsed?: bigint // type 3
  blobGasPrice?: bigint // type 3
}

/** EIP-4895. `amountGwei` as on the wire. */
export interface Withdrawal {
  index: bigint
  validatorIndex: bigint
  address: Uint8Array // 20
  amountGwei: bigint
}

export interface Block {
  hash: Uint8Array // 32
  header: Header
  transactions: Transaction[]
  uncles: Header[]
  withdrawals?: Withdrawal[] // Shanghai
  sizeBytes: number // length of the block's RLP
}

/** A block that is not sealed yet, without a hash. */
export type PendingBlock = Pick<Block, 'header' | 'transactions' | 'withdrawals'>

/** Blocks [from, to], both inclusive. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}
