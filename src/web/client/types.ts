/* Results of the public API, as far as the page shows them. */

export type Hex = `0x${string}`

/** A result of `cairn_getStatus`. */
export interface Status {
  version: string
  chainId: Hex | null
  head: { number: Hex; hash: Hex; timestamp: Hex } | null
  safe: Hex | null
  finalized: Hex | null
  coverage: {
    fromBlock: Hex
    toBlock: Hex
    stateFromBlock: Hex | null
    closedStates: { fromBlock: Hex; toBlock: Hex }[]
    listedStates: { fromBlock: Hex; toBlock: Hex }[]
    known: { accounts: number; slots: number } | null
    gap: { fromBlock: Hex; toBlock: Hex } | null
  } | null
  highestBlock: Hex | null
  counts: { transactions: number; logs: number }
  l2: { fromBlock: Hex; head: Hex; headHash: Hex; acceptedOnL1: Hex | null } | null
  replication: {
    role: string
    state: string
    epoch: number
    sequence: number
    lagBlocks: number | null
    lagSeconds: number
  } | null
  headSource: 'consensus client' | 'upstreams' | 'replication' | null
  forwardsTransactions: boolean
  database: { bytes: number; walBytes: number; freeBytes: number }
  calls: { count: number; uptimeSeconds: number }
  blocks: StatusBlock[]
}

/** One of the newest blocks. */
export interface StatusBlock {
  number: Hex
  hash: Hex
  timestamp: Hex
  transactions: number
  logs: number
  gasUsed: Hex
  gasLimit: Hex
  baseFeePerGas: Hex | null
  size: number
}

export interface Transaction {
  hash: Hex
  blockHash: Hex | null
  blockNumber: Hex | null
  transactionIndex: Hex | null
  from: Hex
  to: Hex | null
  value: Hex
  gas: Hex
  gasPrice: Hex
  maxFeePerGas?: Hex
  maxPriorityFeePerGas?: Hex
  input: Hex
  nonce: Hex
  type: Hex
  blobVersionedHashes?: Hex[]
  accessList?: unknown[]
  authorizationList?: unknown[]
  /** Of deposits of the OP stack. */
  sourceHash?: Hex
  mint?: Hex
}

interface Withdrawal {
  index: Hex
  validatorIndex: Hex
  address: Hex
  amount: Hex
}

export interface Block {
  number: Hex
  hash: Hex
  parentHash: Hex
  timestamp: Hex
  miner: Hex
  gasUsed: Hex
  gasLimit: Hex
  baseFeePerGas?: Hex
  blobGasUsed?: Hex
  difficulty: Hex
  size: Hex
  extraData: Hex
  stateRoot: Hex
  transactionsRoot: Hex
  receiptsRoot: Hex
  uncles: Hex[]
  transactions: Transaction[]
  withdrawals?: Withdrawal[]
}

export interface Log {
  address: Hex
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  transactionHash: Hex
  transactionIndex: Hex
  logIndex: Hex
}

export interface Receipt {
  /** On chains of the OP stack. */
  l1Fee?: Hex
  transactionHash: Hex
  status?: Hex
  root?: Hex
  gasUsed: Hex
  effectiveGasPrice: Hex
  contractAddress: Hex | null
  blobGasUsed?: Hex
  blobGasPrice?: Hex
  logs: Log[]
  from: Hex
  to: Hex | null
}

/** A decoded event or function call. */
export interface Decoded {
  /** Null for a guess of several signatures. */
  name: string | null
  signature: string | null
  isGuess?: true
  candidates?: string[]
  args: { name: string; type: string; indexed?: boolean; value: unknown }[]
}

interface DecodedError extends Decoded {
  /** The reason in one line. */
  reason: string
}

/** Why a transaction failed; error and data are null where the state is not available. */
export interface Failure {
  error: string | null
  data: Hex | null
  decoded: DecodedError | null
  reason: string | null
}

export interface DecodedLog extends Log {
  decoded: Decoded | null
}

/** A frame of `callTracer`. */
export interface CallFrame {
  type: string
  from: Hex
  to?: Hex
  value?: Hex
  gasUsed: Hex
  input: Hex
  output?: Hex
  error?: string
  revertReason?: string
  /** Both are set only by `cairn_getDecodedCalls`. */
  function?: Decoded | null
  decodedError?: DecodedError | null
  calls?: CallFrame[]
}

/** One side of a `prestateTracer` difference. */
export interface AccountState {
  balance?: Hex
  nonce?: number
  code?: Hex
  storage?: { [slot: string]: Hex }
}

export interface StateDiff {
  pre: { [address: string]: AccountState }
  post: { [address: string]: AccountState }
}

/** A result of `cairn_explainLogs`. */
export interface Explanation {
  outcome: 'answered' | 'tooMany' | 'timeout' | 'unavailable'
  plan: 'none' | 'arithmetic' | 'rows' | 'index'
  results: number
  maxResults: number
  answerBytes: number | null
  range: { fromBlock: Hex; toBlock: Hex; firstLog: number | null; logs: number }
  clauses: {
    member: string
    values: number
    known: number | null
    first: string | null
    asked: number
    skipped: number
    found: number
    postings: number
  }[]
  segments: ExplainedSegment[]
  tail: { firstLog: number; logs: number; loaded: number; candidates: number } | null
  rows: { fetched: number; met: number; rejected: number }
  ms: { total: number } & { [step: string]: number }
  advice: string[]
}

export interface ExplainedSegment {
  id: number
  level: number
  firstLog: number
  logs: number
  fromBlock: Hex
  toBlock: Hex
  clauses: { member: string; keys: number; found: number; postings: number; skipped: 'rows' | 'empty' | null }[]
  disjoint: boolean
  candidates: number
  ms: number
}

export interface L2Block {
  status: string
  block_hash: Hex
  parent_hash: Hex
  block_number: number
  new_root: Hex
  timestamp: number
  sequencer_address: Hex
  l1_gas_price: { price_in_fri?: string; price_in_wei?: string }
  zk_version?: string
  starknet_version?: string
  transactions: Hex[]
}
