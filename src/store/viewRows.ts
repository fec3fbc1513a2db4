/* Rows of the views, without the types of drizzle: checking its declarations needs the drivers of all databases. */

/** A row of `v_blocks`. */
export interface BlocksRow {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: number
  readonly time: string | null
  readonly miner: string
  readonly difficulty: string
  readonly totalDifficulty: string
  readonly gasLimit: number
  readonly gasUsed: number
  readonly baseFeePerGas: string | null
  readonly blobGasUsed: number | null
  readonly excessBlobGas: number | null
  readonly size: number
  readonly transactionCount: number
  readonly logCount: number
  readonly uncleCount: number
  readonly stateRoot: string
  readonly transactionsRoot: string
  readonly receiptsRoot: string
  readonly withdrawalsRoot: string | null
  readonly requestsHash: string | null
  readonly parentBeaconBlockRoot: string | null
  readonly unclesHash: string
  readonly extraData: string
  readonly mixHash: string
  readonly nonce: string
  readonly blockAccessListHash: string | null
  readonly slotNumber: number | null
}

/** A row of `v_transactions`. */
export interface TransactionsRow {
  readonly blockNumber: number
  readonly blockHash: string
  readonly timestamp: number
  readonly transactionIndex: number
  readonly hash: string
  readonly type: number
  readonly from: string
  readonly to: string | null
  readonly nonce: number
  readonly value: string
  readonly valueEth: number
  readonly gasLimit: number
  readonly gasPrice: string | null
  readonly maxFeePerGas: string | null
  readonly maxPriorityFeePerGas: string | null
  readonly maxFeePerBlobGas: string | null
  readonly blobCount: number | null
  readonly input: string
  readonly selector: string | null
  readonly chainId: string | null
}

/** A row of `v_receipts`. */
export interface ReceiptsRow {
  readonly blockNumber: number
  readonly blockHash: string
  readonly timestamp: number
  readonly transactionIndex: number
  readonly transactionHash: string
  readonly type: number
  readonly from: string
  readonly to: string | null
  readonly contractAddress: string | null
  readonly status: number | null
  readonly root: string | null
  readonly gasUsed: number
  readonly cumulativeGasUsed: number
  readonly effectiveGasPrice: string
  readonly feeEth: number
  readonly blobGasUsed: number | null
  readonly blobGasPrice: string | null
  readonly logCount: number
}

/** A row of `v_logs`. */
export interface LogsRow {
  readonly blockNumber: number
  readonly blockHash: string
  readonly timestamp: number
  readonly transactionIndex: number
  readonly transactionHash: string
  readonly logIndex: number
  readonly address: string
  readonly topic0: string | null
  readonly topic1: string | null
  readonly topic2: string | null
  readonly topic3: string | null
  readonly data: string
  readonly dataLength: number
}

/** A row of `v_erc20_transfers`. */
export interface Erc20TransfersRow {
  readonly blockNumber: number
  readonly timestamp: number
  readonly transactionIndex: number
  readonly transactionHash: string
  readonly logIndex: number
  readonly address: string
  readonly from: string
  readonly to: string
  readonly value: string
}

/** A row of `v_l2_blocks`. */
export interface L2BlocksRow {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  readonly newRoot: string
  readonly timestamp: number
  readonly time: string | null
  readonly sequencer: string | null
  readonly version: string | null
  readonly status: string
  readonly transactionCount: number
  readonly eventCount: number | null
  readonly l1GasPriceWei: string | null
  readonly l1GasPriceFri: string | null
  readonly l1DataGasPriceWei: string | null
  readonly l1DataGasPriceFri: string | null
  readonly l2GasPriceWei: string | null
  readonly l2GasPriceFri: string | null
  readonly l1DaMode: string | null
  readonly verified: number | null
}
